package io.turbidite.ops.sql;

import io.turbidite.core.NearestName;

import org.apache.calcite.avatica.util.Casing;
import org.apache.calcite.avatica.util.Quoting;
import org.apache.calcite.config.CalciteConnectionConfigImpl;
import org.apache.calcite.config.NullCollation;
import org.apache.calcite.jdbc.CalciteSchema;
import org.apache.calcite.plan.Contexts;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelOptCostImpl;
import org.apache.calcite.plan.RelOptPredicateList;
import org.apache.calcite.plan.RelOptRule;
import org.apache.calcite.plan.hep.HepMatchOrder;
import org.apache.calcite.plan.hep.HepPlanner;
import org.apache.calcite.plan.hep.HepProgram;
import org.apache.calcite.plan.hep.HepProgramBuilder;
import org.apache.calcite.prepare.CalciteCatalogReader;
import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelRoot;
import org.apache.calcite.rel.RelShuttleImpl;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.RelFactories;
import org.apache.calcite.rel.core.SetOp;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.metadata.DefaultRelMetadataProvider;
import org.apache.calcite.rel.metadata.ProxyingMetadataHandlerProvider;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rel.rules.AggregateExpandDistinctAggregatesRule;
import org.apache.calcite.rel.rules.CoreRules;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.runtime.CalciteContextException;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOperatorTable;
import org.apache.calcite.sql.parser.SqlParseException;
import org.apache.calcite.sql.parser.SqlParser;
import org.apache.calcite.sql.parser.babel.SqlBabelParserImpl;
import org.apache.calcite.sql.validate.SqlConformance;
import org.apache.calcite.sql.validate.SqlConformanceEnum;
import org.apache.calcite.sql.validate.SqlDelegatingConformance;
import org.apache.calcite.sql.validate.SqlValidator;
import org.apache.calcite.sql.validate.SqlValidatorUtil;
import org.apache.calcite.sql2rel.RelDecorrelator;
import org.apache.calcite.sql2rel.SqlToRelConverter;
import org.apache.calcite.sql2rel.StandardConvertletTable;
import org.apache.calcite.tools.RelBuilder;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** From a text to a tree of relational operators. <em>Confined to one thread.</em> */
final class Front {
    /** The name of the dataset that a statement changes, where its rows are looked for. */
    static final String TARGET = "target$";

    /** With which statements begin. */
    private static final List<String> FIRST_WORDS = List.of(
            "SELECT",
            "VALUES",
            "WITH",
            "EXPLAIN",
            "INSERT",
            "UPSERT",
            "UPDATE",
            "DELETE",
            "CREATE",
            "DROP",
            "SHOW",
            "DESCRIBE");

    private static final int EXPECTED_SHOWN = 5;
    private static final SqlOperatorTable OPERATORS = Operators.table();
    private static final HepProgram REWRITING = rewriting();
    private static final HepProgram WITHOUT_SUBQUERIES = withoutSubqueries();
    private static final HepProgram WITHOUT_DISTINCT = withoutDistinct();
    private static final HepProgram WINDOWS = new HepProgramBuilder()
            .addRuleInstance(CoreRules.PROJECT_TO_LOGICAL_PROJECT_AND_WINDOW)
            .build();
    private static final Set<SqlKind> MADE_AS_THEY_ARE = Set.of(
            SqlKind.COUNT,
            SqlKind.MIN,
            SqlKind.MAX,
            SqlKind.ANY_VALUE,
            SqlKind.ARRAY_AGG,
            SqlKind.LISTAGG,
            SqlKind.STRING_AGG);
    private static final Pattern NO_COLUMN = Pattern.compile(
            "Column '(.*)' not found in (any table|table '[^']*')(.*)", Pattern.DOTALL);
    private static final Pattern NO_TABLE =
            Pattern.compile("(?:Object|Table) '([^']*)' not found.*", Pattern.DOTALL);
    private static final Pattern NO_FUNCTION =
            Pattern.compile("No match found for function signature (\\w+)\\(.*", Pattern.DOTALL);

    /** As Babel, but a name means one thing, and what is grouped is named or aggregated. */
    private static final SqlConformance STRICT =
            new SqlDelegatingConformance(SqlConformanceEnum.BABEL) {
                @Override
                public boolean isNonStrictGroupBy() {
                    return false;
                }

                @Override
                public SelectAliasLookup isSelectAlias() {
                    return SelectAliasLookup.UNSUPPORTED;
                }
            };

    private final Collection<SourceAndView> sources;
    private final String text;
    private final String shown;

    /** What a statement changes, under {@link #TARGET}; null if it changes nothing. */
    private final @Nullable SourceAndView target;

    private final Types.Factory types = new Types.Factory();
    private @Nullable RelDataType parameterTypes;

    private @Nullable OpenFields openFields;

    private final Instant now;

    /** Whether the plan depends on the moment at which it was made. */
    private boolean isOfMoment;

    Front(Collection<SourceAndView> sources, String text, Instant now) {
        this(sources, text, text, null, now);
    }

    /**
     * @param shown as it was given, for messages
     * @param target what the statement changes
     */
    Front(
            Collection<SourceAndView> sources,
            String text,
            String shown,
            @Nullable SourceAndView target,
            Instant now) {
        this.sources = sources;
        this.text = text;
        this.shown = shown;
        this.target = target;
        this.now = now.truncatedTo(ChronoUnit.MICROS);
    }

    boolean isOfMoment() {
        return isOfMoment;
    }

    /** Parses, validates and rewrites. */
    RelRoot plan() {
        SqlNode parsed = parse();
        if (!SqlKind.QUERY.contains(parsed.getKind())) {
            throw unsupported();
        }
        return plan(parsed);
    }

    /** Validates and rewrites a query. */
    RelRoot plan(SqlNode asked) {
        Map<String, SourceAndView> datasets = new HashMap<>();
        sources.forEach(source -> datasets.put(source.source().name(), source));
        if (target != null) {
            datasets.put(TARGET, target);
        }
        OpenFields open = new OpenFields(datasets);
        SqlNode parsed = open.rewritten(asked);
        openFields = open;
        CalciteCatalogReader catalog = catalog();
        SqlValidator validator = SqlValidatorUtil.newValidator(
                OPERATORS,
                catalog,
                types,
                SqlValidator.Config.DEFAULT
                        .withDefaultNullCollation(NullCollation.LOW)
                        .withConformance(STRICT)
                        .withIdentifierExpansion(true));
        RexBuilder rex = new PlanningStop.Expressions(types);
        HepPlanner planner = new HepPlanner(REWRITING);
        planner.setExecutor(new Folding(types));
        RelOptCluster cluster = RelOptCluster.create(planner, rex);
        cluster.setMetadataQuerySupplier(Metadata::new);
        try {
            SqlNode valid = validator.validate(parsed);
            parameterTypes = validator.getParameterRowType(valid);
            SqlToRelConverter converter = new SqlToRelConverter(
                    (rowType, queryString, schemaPath, viewPath) -> {
                        throw SqlException.of("there are no views");
                    },
                    validator,
                    catalog,
                    cluster,
                    StandardConvertletTable.INSTANCE,
                    SqlToRelConverter.config()
                            .withTrimUnusedFields(false)
                            .withExpand(false)
                            .withInSubQueryThreshold(Integer.MAX_VALUE));
            RelRoot root = converter.convertQuery(valid, false, true);
            Correlations.check(root.rel);
            return root.withRel(rewrite(root.rel, cluster));
        } catch (CalciteContextException e) {
            throw invalid(e);
        }
    }

    /** The parameters of the statement that was planned. */
    List<Parameter> parameters() {
        List<Parameter> parameters = new ArrayList<>();
        RelDataType given = parameterTypes;
        if (given != null) {
            given.getFieldList()
                    .forEach(field ->
                            parameters.add(Parameter.of(parameters.size(), field.getType())));
        }
        return parameters;
    }

    private static final class Metadata extends RelMetadataQuery {
        Metadata() {
            super(new ProxyingMetadataHandlerProvider(DefaultRelMetadataProvider.INSTANCE));
        }

        /** Those of sets would be compared by classes compiled at run time. */
        @Override
        public RelOptPredicateList getPulledUpPredicates(RelNode rel) {
            return rel instanceof SetOp
                    ? RelOptPredicateList.EMPTY
                    : super.getPulledUpPredicates(rel);
        }
    }

    SqlNode parse() {
        SqlParser.Config config = SqlParser.config()
                .withParserFactory(SqlBabelParserImpl.FACTORY)
                .withConformance(SqlConformanceEnum.BABEL)
                .withQuoting(Quoting.DOUBLE_QUOTE)
                .withUnquotedCasing(Casing.UNCHANGED)
                .withQuotedCasing(Casing.UNCHANGED)
                .withCaseSensitive(true);
        try {
            SqlNode parsed = SqlParser.create(text, config).parseStmt();
            return Objects.requireNonNull(parsed.accept(new Rewording(text)));
        } catch (SqlParseException e) {
            throw unparsed(e);
        }
    }

    /** A statement that is none of those that there are. */
    private SqlException unsupported() {
        String word = Tokens.firstWord(text).toUpperCase(Locale.ROOT);
        return StatementText.at(
                "%s is not supported%s".formatted(word, NearestName.hint(word, FIRST_WORDS)),
                shown,
                Tokens.behindBlanks(text, 0));
    }

    private SqlException unparsed(SqlParseException e) {
        if (e.getCause() instanceof StackOverflowError) {
            return SqlException.of(Planned.TOO_DEEP, e);
        }
        String said = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        int line = e.getPos() == null ? 0 : e.getPos().getLineNum();
        int column = e.getPos() == null ? 0 : e.getPos().getColumnNum();
        Matcher found = Pattern.compile("Encountered \"(.*?)\" at line \\d+, column \\d+.*")
                .matcher(said);
        String message = said;
        if (said.startsWith("Non-query expression")) {
            String here = text.lines().skip(Math.max(0, line - 1L)).findFirst().orElse("");
            String word =
                    Tokens.firstWord(here.substring(Math.clamp(column - 1L, 0, here.length())));
            if (word.equals(Tokens.firstWord(text))) {
                return unsupported();
            }
            message = "'%s' can't stand here".formatted(word);
        }
        if (found.matches()) {
            String token = found.group(1).strip();
            message = token.endsWith("<EOF>")
                    ? "the statement ends too early"
                    : "'%s' can't stand here".formatted(token);
        }
        TreeSet<String> expected = new TreeSet<>();
        for (String token :
                e.getExpectedTokenNames() == null ? List.<String>of() : e.getExpectedTokenNames()) {
            String plain = token.replace("\"", "");
            if (!plain.equals("MEASURE") && plain.matches("[A-Z]+|[^A-Za-z0-9<]{1,2}")) {
                expected.add(plain);
            }
        }
        if (!expected.isEmpty() && expected.size() <= EXPECTED_SHOWN) {
            message += "; expected " + String.join(", ", expected);
        }
        return SqlException.at(message, shown, line, column, e);
    }

    private SqlException invalid(CalciteContextException e) {
        Throwable cause = e.getCause();
        String said = String.valueOf(cause == null ? e.getMessage() : cause.getMessage())
                .replaceFirst("(?s)\\. Supported form\\(s\\):.*", "");
        Matcher column = NO_COLUMN.matcher(said);
        Matcher table = NO_TABLE.matcher(said);
        Matcher function = NO_FUNCTION.matcher(said);
        String message = said;
        if (said.contains("$SCALAR_QUERY")) {
            message = "a subquery that stands for one value has one column";
        }
        boolean isUntold = said.startsWith("Illegal use of dynamic parameter")
                || (said.contains("<UNKNOWN>") && text.contains("?"));
        if (isUntold) {
            message = "no type can be told for a parameter here: write CAST(? AS …)";
        } else if (said.startsWith("Values passed to VALUES")) {
            message =
                    "the rows of VALUES differ in the type of a column: write a CAST, or a statement for each";
        } else if (column.matches()) {
            String name = column.group(1);
            message = "there is no column '%s'%s%s%s"
                    .formatted(
                            name,
                            NearestName.hint(name, fieldNames()),
                            UnquotedText.hint(parse(), name, e.getPosLine(), e.getPosColumn()),
                            column.group(2).startsWith("any")
                                    ? " (behind its table, t.%s reads an open field)"
                                            .formatted(name)
                                    : "");
        } else if (table.matches()) {
            String name = table.group(1);
            message = "there is no dataset '%s'%s"
                    .formatted(name, NearestName.hint(name, datasetNames()));
        } else if (function.matches()) {
            String name = function.group(1).toUpperCase(Locale.ROOT);
            message = Operators.names().contains(name)
                    ? "%s does not take such arguments".formatted(name)
                    : "there is no function %s%s"
                            .formatted(name, NearestName.hint(name, Operators.names()));
        }
        return SqlException.at(message, shown, e.getPosLine(), e.getPosColumn(), e);
    }

    private List<String> datasetNames() {
        return sources.stream().map(s -> s.source().name()).toList();
    }

    private List<String> fieldNames() {
        List<String> names = new ArrayList<>();
        for (SourceAndView source : sources) {
            source.source().type().declared().forEach(field -> names.add(field.name()));
        }
        return names;
    }

    private CalciteCatalogReader catalog() {
        CalciteSchema schema = CalciteSchema.createRootSchema(false, false);
        for (SourceAndView source : sources) {
            schema.add(source.source().name(), table(source));
        }
        if (target != null) {
            schema.add(TARGET, table(target));
        }
        Properties properties = new Properties();
        properties.setProperty("caseSensitive", "true");
        return new CalciteCatalogReader(
                schema, List.of(), types, new CalciteConnectionConfigImpl(properties));
    }

    private DatasetTable table(SourceAndView source) {
        OpenFields open = openFields;
        return new DatasetTable(
                source, open == null ? List.of() : open.of(source.source().name()));
    }

    private RelNode rewrite(RelNode tree, RelOptCluster cluster) {
        RelNode joined = run(WITHOUT_SUBQUERIES, tree, cluster)
                .accept(new AtMoment(cluster.getRexBuilder()));
        RelBuilder builder = RelFactories.LOGICAL_BUILDER.create(cluster, null);
        RelNode uncorrelated = RelDecorrelator.decorrelateQuery(
                NestedCorrelations.flattened(joined).accept(new KeptConstants()), builder);
        RelNode rewritten = run(REWRITING, run(WITHOUT_DISTINCT, uncorrelated, cluster), cluster);
        return run(WINDOWS, TrimmedJoins.of(rewritten, cluster), cluster);
    }

    /** The functions of the time of day become constants: a statement has one moment. */
    private final class AtMoment extends RelHomogeneousShuttle {
        private final RexShuttle values;

        AtMoment(RexBuilder rex) {
            this.values = new RexShuttle() {
                @Override
                public RexNode visitCall(RexCall call) {
                    RexNode constant = Folding.moment(rex, call, now);
                    if (constant == null) {
                        return super.visitCall(call);
                    }
                    isOfMoment = true;
                    return constant;
                }
            };
        }

        @Override
        public RelNode visit(RelNode other) {
            return super.visit(other).accept(values);
        }
    }

    /**
     * Hides constants that are grouped by. {@link RelDecorrelator} leaves such keys out: others get
     * their places, and without keys there is a row of no rows. They are worked out behind it.
     */
    private static final class KeptConstants extends RelShuttleImpl {
        @Override
        public RelNode visit(LogicalAggregate aggregate) {
            RelNode visited = super.visit(aggregate);
            if (!(visited.getInput(0) instanceof Project project)) {
                return visited;
            }
            RexBuilder rex = project.getCluster().getRexBuilder();
            List<RexNode> values = new ArrayList<>(project.getProjects());
            for (int key : aggregate.getGroupSet()) {
                RexNode value = values.get(key);
                values.set(
                        key,
                        value instanceof RexLiteral ? rex.makeCall(Operators.KEPT, value) : value);
            }
            RelNode input = project.copy(
                    project.getTraitSet(), project.getInput(), values, project.getRowType());
            return visited.copy(visited.getTraitSet(), List.of(input));
        }
    }

    private static RelNode run(HepProgram program, RelNode tree, RelOptCluster cluster) {
        HepPlanner planner =
                new HepPlanner(program, Contexts.empty(), true, null, RelOptCostImpl.FACTORY);
        planner.setExecutor(cluster.getPlanner().getExecutor());
        planner.setRoot(tree);
        return planner.findBestExp();
    }

    private static HepProgram withoutSubqueries() {
        return new HepProgramBuilder()
                .addRuleInstance(CoreRules.FILTER_SUB_QUERY_TO_CORRELATE)
                .addRuleInstance(CoreRules.PROJECT_SUB_QUERY_TO_CORRELATE)
                .addRuleInstance(CoreRules.JOIN_SUB_QUERY_TO_CORRELATE)
                .build();
    }

    /** Different values are groups of their own; counts and extremes are made without. */
    private static HepProgram withoutDistinct() {
        return new HepProgramBuilder()
                .addRuleInstance(AggregateExpandDistinctAggregatesRule.Config.JOIN
                        .withOperandSupplier(aggregate -> aggregate
                                .operand(LogicalAggregate.class)
                                .predicate(Front::hasDistinctValues)
                                .anyInputs())
                        .toRule())
                .build();
    }

    /** Conditions go below groups, but not below those of all rows: they are there without any. */
    private static RelOptRule belowGroups() {
        return CoreRules.FILTER_AGGREGATE_TRANSPOSE
                .config
                .withOperandSupplier(filter -> filter.operand(Filter.class)
                        .oneInput(groups -> groups.operand(Aggregate.class)
                                .predicate(made -> made.getGroupSets().stream()
                                        .noneMatch(ImmutableBitSet::isEmpty))
                                .anyInputs()))
                .toRule();
    }

    private static boolean hasDistinctValues(Aggregate aggregate) {
        List<AggregateCall> calls = aggregate.getAggCallList();
        return calls.stream()
                        .anyMatch(
                                call -> call.isDistinct() && !MADE_AS_THEY_ARE.contains(kind(call)))
                && calls.stream().noneMatch(call -> Grouping.LISTS.contains(kind(call)));
    }

    private static SqlKind kind(AggregateCall call) {
        return call.getAggregation().getKind();
    }

    private static HepProgram rewriting() {
        return new HepProgramBuilder()
                .addMatchOrder(HepMatchOrder.TOP_DOWN)
                .addRuleCollection(List.of(
                        CoreRules.FILTER_REDUCE_EXPRESSIONS,
                        CoreRules.PROJECT_REDUCE_EXPRESSIONS,
                        CoreRules.JOIN_REDUCE_EXPRESSIONS))
                .addRuleCollection(List.of(
                        CoreRules.FILTER_INTO_JOIN,
                        CoreRules.JOIN_CONDITION_PUSH,
                        CoreRules.FILTER_PROJECT_TRANSPOSE,
                        belowGroups(),
                        CoreRules.FILTER_SET_OP_TRANSPOSE,
                        CoreRules.FILTER_CORRELATE,
                        CoreRules.FILTER_MERGE))
                .addRuleCollection(List.of(
                        CoreRules.PROJECT_MERGE,
                        CoreRules.PROJECT_REMOVE,
                        CoreRules.FILTER_REDUCE_EXPRESSIONS,
                        CoreRules.AGGREGATE_REMOVE,
                        CoreRules.JOIN_PUSH_EXPRESSIONS,
                        CoreRules.SORT_REMOVE_CONSTANT_KEYS))
                .build();
    }
}
