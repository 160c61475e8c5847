package io.turbidite.ops.sql;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Literal;
import io.turbidite.core.expr.Operator;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.Join;
import io.turbidite.ops.Relation;
import io.turbidite.ops.SetOperation;
import io.turbidite.ops.Values;
import io.turbidite.ops.aggregate.Aggregate;

import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Compiles groups and aggregates. Several grouping sets are one grouping: each row is read once and
 * then stands there as often as there are sets, with the number of the set as a key and nulls for
 * the keys that the set leaves out. The empty set is read by itself, since it has a row even of no
 * rows. <em>Confined to one thread.</em>
 */
final class Grouping {
    private static final String SET = "set$";
    static final Set<SqlKind> LISTS = Set.of(
            SqlKind.ARRAY_AGG,
            SqlKind.LISTAGG,
            SqlKind.STRING_AGG,
            SqlKind.PERCENTILE_CONT,
            SqlKind.PERCENTILE_DISC);

    private final RexBuilder rex;
    private final org.apache.calcite.rel.core.Aggregate aggregate;
    private final Supplier<Block> input;

    /** @param input makes what is grouped, anew with each call */
    Grouping(
            RexBuilder rex,
            org.apache.calcite.rel.core.Aggregate aggregate,
            Supplier<Block> input) {
        this.rex = rex;
        this.aggregate = aggregate;
        this.input = input;
    }

    Block block() {
        if (aggregate.getGroupType() == org.apache.calcite.rel.core.Aggregate.Group.SIMPLE) {
            return simple(input.get());
        }
        List<ImmutableBitSet> sets =
                aggregate.getGroupSets().stream().filter(set -> !set.isEmpty()).toList();
        boolean hasEmpty = sets.size() < aggregate.getGroupSets().size();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < aggregate.getRowType().getFieldCount(); i++) {
            names.add("g$" + i);
        }
        Relation rows = sets.isEmpty() ? null : keyed(sets).named(names);
        if (hasEmpty) {
            Relation whole = whole().named(names);
            rows = rows == null ? whole : SetOperation.unionAll(rows, whole);
        }
        return Block.of(Objects.requireNonNull(rows), names);
    }

    private Block simple(Block given) {
        Block block = given;
        ImmutableBitSet keys = aggregate.getGroupSet();
        boolean areFields = true;
        for (int key : keys) {
            String field = block.fieldOf(key);
            areFields &= field != null;
        }
        if (!block.takesGroups() || !areFields) {
            block = block.wrapped();
        }
        List<String> fields = new ArrayList<>();
        List<Expression> columns = keys(block, fields);
        List<Aggregate> aggregates = new ArrayList<>();
        calls(block, List.of(keys), SET, aggregates, columns);
        if (fields.isEmpty() && aggregates.isEmpty()) {
            aggregates.add(Aggregate.count());
        }
        block.groups(fields, aggregates, columns);
        return block;
    }

    /** Adds the fields that are grouped by; their columns. */
    private List<Expression> keys(Block block, List<String> fields) {
        List<Expression> columns = new ArrayList<>();
        for (int key : aggregate.getGroupSet()) {
            String field = Objects.requireNonNull(block.fieldOf(key));
            TypeKind kind = block.kindOf(field);
            if (kind == null || !kind.isScalar()) {
                throw Terms.unsupported("GROUP BY of arrays and nested records");
            }
            if (!fields.contains(field)) {
                fields.add(field);
            }
            columns.add(new Expression.Name(field));
        }
        return columns;
    }

    /** The groups of all sets that have keys. */
    private Block keyed(List<ImmutableBitSet> sets) {
        Block block = input.get();
        List<String> names = InnerNames.of(block.columns(), "c$");
        List<Map<String, @Nullable Object>> numbers = new ArrayList<>();
        for (long i = 0; i < sets.size(); i++) {
            numbers.add(Map.of(SET, i));
        }
        RecordType number = RecordType.of(List.of(new Field(SET, TypeKind.INT64, false)));
        Relation repeated = Join.cross(block.named(names), Values.of(number, numbers));
        names.add(SET);
        Block rows = Block.of(repeated, names);
        // a column may be a key and a value: values are never masked
        List<Expression> all = new ArrayList<>(rows.columns());
        for (int key : aggregate.getGroupSet()) {
            all.add(masked(all.get(key), key, sets));
        }
        rows.columns(all);
        Block grouped = rows.wrapped();
        List<String> fields = new ArrayList<>();
        fields.add(Objects.requireNonNull(grouped.fieldOf(names.size() - 1)));
        List<Expression> made = new ArrayList<>();
        for (int i = 0; i < aggregate.getGroupCount(); i++) {
            String field = Objects.requireNonNull(grouped.fieldOf(names.size() + i));
            TypeKind kind = grouped.kindOf(field);
            if (kind == null || !kind.isScalar()) {
                throw Terms.unsupported("GROUP BY of arrays and nested records");
            }
            fields.add(field);
            made.add(new Expression.Name(field));
        }
        List<Aggregate> aggregates = new ArrayList<>();
        calls(grouped, sets, fields.getFirst(), aggregates, made);
        grouped.groups(fields, aggregates, made);
        return grouped;
    }

    /** A key, null in the sets that leave it out. */
    private static Expression masked(Expression key, int place, List<ImmutableBitSet> sets) {
        List<Expression> terms = new ArrayList<>();
        for (int i = 0; i < sets.size(); i++) {
            if (sets.get(i).get(place)) {
                terms.add(isSet(SET, i));
                terms.add(key);
            }
        }
        return terms.size() == 2 * sets.size()
                ? key
                : Terms.choice(terms.toArray(Expression[]::new));
    }

    private static Expression isSet(String field, int number) {
        return new Expression.Comparison(
                new Expression.Name(field),
                Operator.EQUAL,
                Terms.constant(new Literal.Numeric(Integer.toString(number))));
    }

    /** One row of all. Keys are nulls of their own kind: the least of no values. */
    private Block whole() {
        Block block = input.get().wrapped();
        List<Expression> columns = new ArrayList<>();
        List<Aggregate> aggregates = new ArrayList<>();
        for (int key : aggregate.getGroupSet()) {
            Expression never = Terms.choice(Terms.fixed(false), block.columns().get(key));
            String name = free("key_" + aggregates.size(), block, aggregates);
            aggregates.add(new Aggregate(Aggregate.Function.MIN, text(never), name));
            columns.add(new Expression.Name(name));
        }
        calls(block, List.of(ImmutableBitSet.of()), SET, aggregates, columns);
        block.groups(List.of(), aggregates, columns);
        return block;
    }

    private void calls(
            Block block,
            List<ImmutableBitSet> sets,
            String setField,
            List<Aggregate> aggregates,
            List<Expression> columns) {
        for (AggregateCall call : aggregate.getAggCallList()) {
            SqlKind kind = call.getAggregation().getKind();
            columns.add(
                    kind == SqlKind.GROUPING
                            ? grouping(call, sets, setField)
                            : aggregated(call, block, aggregates));
        }
    }

    /** A bit for each argument, the last one lowest: 1 if the set leaves it out. */
    private static Expression grouping(
            AggregateCall call, List<ImmutableBitSet> sets, String setField) {
        List<Expression> terms = new ArrayList<>();
        for (int i = 0; i < sets.size(); i++) {
            long bits = 0;
            for (int argument : call.getArgList()) {
                bits = bits << 1 | (sets.get(i).get(argument) ? 0 : 1);
            }
            terms.add(isSet(setField, i));
            terms.add(Terms.whole(bits));
        }
        return sets.size() == 1 ? terms.getLast() : Terms.choice(terms.toArray(Expression[]::new));
    }

    /**
     * Adds what is aggregated; what the column is made of then.
     */
    private Expression aggregated(AggregateCall call, Block block, List<Aggregate> aggregates) {
        SqlKind kind = call.getAggregation().getKind();
        if (kind == SqlKind.LITERAL_AGG) {
            return new Scalars(rex, List.of()).value(call.rexList.getFirst());
        }
        // a null by itself has no type
        boolean isOfNulls = call.getArgList().stream()
                .map(aggregate.getInput().getRowType().getFieldList()::get)
                .anyMatch(field -> field.getType().getSqlTypeName() == SqlTypeName.NULL);
        String name = name(call, block, aggregates);
        if (LISTS.contains(kind)) {
            aggregates.add(listed(call, kind, block, name));
            return new Expression.Name(name);
        }
        Expression.Name column = new Expression.Name(name);
        Aggregate.Function function = switch (kind) {
            case COUNT ->
                call.isDistinct() || isApproximate(call)
                        ? Aggregate.Function.COUNT_DISTINCT
                        : Aggregate.Function.COUNT;
            case SUM, SUM0 -> Aggregate.Function.SUM;
            case AVG -> Aggregate.Function.AVG;
            case MIN, SINGLE_VALUE, ANY_VALUE -> Aggregate.Function.MIN;
            case MAX -> Aggregate.Function.MAX;
            case VAR_SAMP, VAR_POP, STDDEV_POP -> Aggregate.Function.VAR;
            case STDDEV_SAMP -> Aggregate.Function.STDDEV;
            default -> throw Terms.unsupported(call.getAggregation().getName());
        };
        boolean isOfAny = function == Aggregate.Function.MIN || function == Aggregate.Function.MAX;
        if (call.isDistinct() && function != Aggregate.Function.COUNT_DISTINCT && !isOfAny) {
            throw Terms.unsupported(call.getAggregation().getName()
                    + "(DISTINCT …) beside several grouping sets or values in a list");
        }
        if (call.getArgList().size() > 1
                || !call.getCollation().getFieldCollations().isEmpty()) {
            throw Terms.unsupported(
                    call.getAggregation().getName() + " of several values, or in an order");
        }
        Expression argument = call.getArgList().isEmpty()
                ? null
                : block.columns().get(call.getArgList().getFirst());
        if (isOfNulls) {
            argument = Terms.call("int64", Terms.NULL);
        }
        if (call.filterArg >= 0) {
            argument = Terms.where(
                    block.columns().get(call.filterArg),
                    argument == null ? Terms.whole(1) : argument);
        }
        if (argument instanceof Expression.Constant
                && !argument.equals(Terms.NULL)
                && function == Aggregate.Function.COUNT) {
            argument = null;
        }
        aggregates.add(new Aggregate(function, argument == null ? null : text(argument), name));
        if (kind == SqlKind.SINGLE_VALUE) {
            String rows = free("rows", block, aggregates);
            aggregates.add(new Aggregate(Aggregate.Function.COUNT, null, rows));
            return Terms.only(column, new Expression.Name(rows));
        }
        if (kind == SqlKind.VAR_POP || kind == SqlKind.STDDEV_POP) {
            String rows = free("rows", block, aggregates);
            aggregates.add(new Aggregate(
                    Aggregate.Function.COUNT, text(Objects.requireNonNull(argument)), rows));
            Expression variance = Terms.ofPopulation(column, new Expression.Name(rows));
            return kind == SqlKind.VAR_POP ? variance : Terms.call("sqrt", variance);
        }
        return kind == SqlKind.SUM0 ? Terms.orZero(column) : column;
    }

    /** All values of a group, in an order. */
    private Aggregate listed(AggregateCall call, SqlKind kind, Block block, String name) {
        List<RelFieldCollation> keys = call.getCollation().getFieldCollations();
        boolean isPercentile = kind == SqlKind.PERCENTILE_CONT || kind == SqlKind.PERCENTILE_DISC;
        int value = isPercentile
                ? keys.getFirst().getFieldIndex()
                : call.getArgList().getFirst();
        List<Aggregate.Listing.By> order = new ArrayList<>();
        for (RelFieldCollation key : keys) {
            boolean isDescending = key.direction.isDescending();
            order.add(new Aggregate.Listing.By(
                    text(block.columns().get(key.getFieldIndex())),
                    isDescending,
                    isDescending == Compiler.areNullsFirst(key)));
        }
        String separator = kind == SqlKind.ARRAY_AGG ? "" : ",";
        BigDecimal fraction = Aggregate.Listing.PLAIN.fraction();
        if (isPercentile) {
            fraction = constant(call, call.getArgList().getFirst()).getValueAs(BigDecimal.class);
        } else if (call.getArgList().size() > 1) {
            separator = constant(call, call.getArgList().get(1)).getValueAs(String.class);
        }
        if (call.getArgList().size() > 2) {
            throw Terms.unsupported(call.getAggregation().getName() + " of several values");
        }
        Aggregate.Function function = switch (kind) {
            case ARRAY_AGG -> Aggregate.Function.ARRAY_AGG;
            case PERCENTILE_CONT -> Aggregate.Function.PERCENTILE_CONT;
            case PERCENTILE_DISC -> Aggregate.Function.PERCENTILE_DISC;
            default -> Aggregate.Function.STRING_AGG;
        };
        String condition = call.filterArg < 0
                ? null
                : LongTexts.text(Terms.isTrue(block.columns().get(call.filterArg)));
        return new Aggregate(
                function,
                text(Terms.typed(block.columns().get(value))),
                name,
                new Aggregate.Listing(
                        order,
                        call.isDistinct(),
                        condition,
                        Objects.requireNonNullElse(separator, ""),
                        Objects.requireNonNull(fraction)));
    }

    /** What the statement has there; it may have gone through columns below. */
    private RexLiteral constant(AggregateCall call, int argument) {
        RexNode node = aggregate.getInput() instanceof Project project
                ? project.getProjects().get(argument)
                : null;
        while (node instanceof org.apache.calcite.rex.RexCall cast && cast.isA(SqlKind.CAST)) {
            node = cast.operands.getFirst();
        }
        if (node instanceof RexLiteral literal && !literal.isNull()) {
            return literal;
        }
        throw Terms.unsupported(call.getAggregation().getName()
                + " with anything but a constant for its fraction or separator");
    }

    /** It is counted exactly. */
    private static boolean isApproximate(AggregateCall call) {
        return call.getAggregation().equals(SqlStdOperatorTable.APPROX_COUNT_DISTINCT);
    }

    /** As people would name it: {@code sum_age}; by what has no name {@code sum_1}. */
    private static String name(AggregateCall call, Block block, List<Aggregate> aggregates) {
        String function = call.getAggregation().getName().replace("$", "").toLowerCase(Locale.ROOT);
        List<RelFieldCollation> order = call.getCollation().getFieldCollations();
        int value = function.startsWith("percentile") && !order.isEmpty()
                ? order.getFirst().getFieldIndex()
                : call.getArgList().isEmpty() ? -1 : call.getArgList().getFirst();
        String field = value < 0 ? null : block.fieldOf(value);
        if (field == null || !field.matches("[A-Za-z_][A-Za-z0-9_]*")) {
            field = value < 0 && call.filterArg < 0 ? "rows" : String.valueOf(aggregates.size());
        }
        return free(function + "_" + field, block, aggregates);
    }

    /** A name that no field of the input has, nor another aggregate: groups of groups have both. */
    private static String free(String name, Block block, List<Aggregate> aggregates) {
        Set<String> taken = aggregates.stream().map(Aggregate::name).collect(Collectors.toSet());
        String free = name;
        for (int i = 2; block.kindOf(free) != null || taken.contains(free); i++) {
            free = name + "_" + i;
        }
        return free;
    }

    private static String text(Expression value) {
        return value instanceof Expression.Name(String name)
                ? name
                : "(" + LongTexts.text(value) + ")";
    }
}
