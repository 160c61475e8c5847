package io.turbidite.ops.sql;

import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.apache.calcite.sql.SqlBasicTypeNameSpec;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlDelete;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlInsert;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlTypeNameSpec;
import org.apache.calcite.sql.SqlUpdate;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.type.SqlTypeName;
import org.jspecify.annotations.Nullable;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Plans the statements that change records: their rows are those of a query. <em>Confined to one
 * thread.</em>
 */
final class Changes {
    /** The first words of such statements. */
    static final Set<String> FIRST_WORDS = Set.of("insert", "upsert", "update", "delete");

    private static final String UPSERT = "upsert";

    private final List<SourceAndView> sources;
    private final Catalog catalog;
    private final StatementText text;
    private final InstantSource clock;

    private Changes(
            List<SourceAndView> sources, Catalog catalog, StatementText text, InstantSource clock) {
        this.clock = clock;
        this.sources = sources;
        this.catalog = catalog;
        this.text = text;
    }

    /** What a statement changes. */
    static Effect of(
            List<SourceAndView> sources, Catalog catalog, StatementText text, InstantSource clock) {
        return Planned.told(() -> new Changes(sources, catalog, text, clock).read());
    }

    private Effect read() {
        String query = text.query();
        boolean replaces = Tokens.firstWord(query).equals(UPSERT);
        if (replaces) {
            // as many characters, so that all places stay
            int start = Tokens.behindBlanks(query, 0);
            query = query.substring(0, start) + "insert" + query.substring(start + UPSERT.length());
        }
        SqlNode parsed = new Front(sources, query, text.whole(), null, clock.instant()).parse();
        return switch (parsed) {
            case SqlInsert insert -> insertion(insert, replaces, query);
            case SqlUpdate update -> update(update, query);
            case SqlDelete delete -> deletion(delete, query);
            default -> throw Terms.unsupported(parsed.getKind().sql);
        };
    }

    private SqlException wrong(String message, SqlParserPos place) {
        return SqlException.at(
                message, text.whole(), place.getLineNum(), place.getColumnNum(), null);
    }

    private Source target(SqlNode named) {
        if (!(named instanceof SqlIdentifier name) || name.names.size() != 1) {
            throw wrong("a dataset has one name, without options", named.getParserPosition());
        }
        return Targets.find(
                catalog, name.getSimple(), message -> wrong(message, named.getParserPosition()));
    }

    /** A field at the top of records, by the name that a statement gives. */
    private String field(Source target, SqlNode named, Set<String> taken, boolean mayBeNested) {
        SqlIdentifier name = (SqlIdentifier) named;
        String path = String.join(".", name.names);
        RecordType type = target.type();
        int field =
                mayBeNested ? Assignment.index(type, path) : type.memberOf(RecordType.TOP, path);
        if (field < 0) {
            throw wrong(
                    type.indexOf(path) >= 0
                            ? "'%s' lies in a nested record: INSERT puts only whole records"
                                    .formatted(path)
                            : "there is no column '%s'%s".formatted(path, type.meant(path)),
                    named.getParserPosition());
        }
        boolean isTaken = taken.stream()
                .anyMatch(other -> other.equals(path)
                        || other.startsWith(path + ".")
                        || path.startsWith(other + "."));
        if (!taken.add(path) || isTaken) {
            throw wrong("'%s' is given twice".formatted(path), named.getParserPosition());
        }
        return path;
    }

    private Effect insertion(SqlInsert insert, boolean replaces, String query) {
        Source target = target(insert.getTargetTable());
        SqlNodeList columns = insert.getTargetColumnList();
        List<String> names = new ArrayList<>();
        Set<String> taken = new HashSet<>();
        if (columns == null) {
            target.type().declared().forEach(field -> names.add(field.name()));
        } else {
            columns.forEach(column -> names.add(field(target, column, taken, false)));
        }
        SqlNode source = insert.getSource();
        typeParameters(source, target, names);
        RowPlan rows = plan(source, query, null);
        if (rows.columnCount() != names.size()) {
            throw wrong(
                    "a row of %d values goes into %d columns: %s"
                            .formatted(rows.columnCount(), names.size(), String.join(", ", names)),
                    source.getParserPosition());
        }
        SqlParserPos head =
                (columns == null ? insert.getTargetTable() : columns).getParserPosition();
        for (Field field : target.type().declared()) {
            if (!field.optional() && !names.contains(field.name())) {
                throw wrong(
                        "field '%s' of %s is required, but no value is put there"
                                .formatted(field.name(), target.name()),
                        head);
            }
        }
        List<Assignment> assignments = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            assignments.add(Assignment.of(
                    target.type(), names.get(i), rows, i, place(source, 0, i), this::wrong));
        }
        return new Insertion(
                catalog, target, rows, assignments, replaces, (message, row, column, cause) -> {
                    SqlParserPos place =
                            column == Insertion.WHOLE ? head : place(source, row, column);
                    return SqlException.at(
                            "row %d: %s".formatted(row + 1, message),
                            text.whole(),
                            place.getLineNum(),
                            place.getColumnNum(),
                            cause);
                });
    }

    /** Gives parameters that stand for a value alone the types of the fields that they go into. */
    private static void typeParameters(SqlNode source, Source target, List<String> names) {
        if (source instanceof SqlSelect select) {
            typeParameters(select.getSelectList(), target, names);
        } else if (source instanceof SqlCall values && values.getKind() == SqlKind.VALUES) {
            for (SqlNode row : values.getOperandList()) {
                if (row instanceof SqlCall one && one.getKind() == SqlKind.ROW) {
                    for (int i = 0; i < Math.min(one.operandCount(), names.size()); i++) {
                        one.setOperand(i, typed(one.operand(i), target, names.get(i)));
                    }
                }
            }
        }
    }

    private static void typeParameters(SqlNodeList values, Source target, List<String> names) {
        for (int i = 0; i < Math.min(values.size(), names.size()); i++) {
            values.set(i, typed(Objects.requireNonNull(values.get(i)), target, names.get(i)));
        }
    }

    private static SqlNode typed(SqlNode value, Source target, String name) {
        if (!(value instanceof SqlDynamicParam)) {
            return value;
        }
        RecordType type = target.type();
        SqlParserPos place = value.getParserPosition();
        TypeKind kind = type.field(Assignment.index(type, name)).kind();
        SqlTypeNameSpec spec = switch (kind) {
            case BOOL -> new SqlBasicTypeNameSpec(SqlTypeName.BOOLEAN, place);
            case INT8, INT16, INT32, INT64 -> new SqlBasicTypeNameSpec(SqlTypeName.BIGINT, place);
            case FLOAT, DOUBLE -> new SqlBasicTypeNameSpec(SqlTypeName.DOUBLE, place);
            case DECIMAL ->
                new SqlBasicTypeNameSpec(
                        SqlTypeName.DECIMAL,
                        Types.DECIMAL_DIGITS_MAX,
                        Types.DECIMAL_DIGITS_MAX / 2,
                        place);
            case DATE -> new SqlBasicTypeNameSpec(SqlTypeName.DATE, place);
            case TIME -> new SqlBasicTypeNameSpec(SqlTypeName.TIME, place);
            case DATETIME -> new SqlBasicTypeNameSpec(SqlTypeName.TIMESTAMP, place);
            case UUID -> new SqlBasicTypeNameSpec(SqlTypeName.UUID, place);
            case STRING, BINARY, DURATION, POINT, LONLAT, RECTANGLE, ARRAY, RECORD ->
                // all but strings are written as text, as in CSV
                new SqlBasicTypeNameSpec(SqlTypeName.VARCHAR, place);
        };
        return SqlStdOperatorTable.CAST.createCall(place, value, new SqlDataTypeSpec(spec, place));
    }

    /** Where a statement says the value of a row; where it begins if it does not say each. */
    private static SqlParserPos place(SqlNode source, long row, int column) {
        SqlNode said = null;
        if (source instanceof SqlCall values
                && values.getKind() == SqlKind.VALUES
                && row < values.operandCount()
                && values.operand((int) row) instanceof SqlCall one
                && one.getKind() == SqlKind.ROW
                && column < one.operandCount()) {
            said = one.operand(column);
        } else if (source instanceof SqlSelect select
                && column < select.getSelectList().size()) {
            said = select.getSelectList().get(column);
        }
        return (said == null ? source : said).getParserPosition();
    }

    private RowPlan plan(SqlNode query, String statement, @Nullable Source target) {
        SourceAndView looked =
                target == null ? null : new SourceAndView(target, null, true, List.of());
        Front front = new Front(sources, statement, text.whole(), looked, clock.instant());
        List<SourceAndView> read = new ArrayList<>(sources);
        if (looked != null) {
            read.add(looked);
        }
        return new RowPlan(Planned.ofRows(read, text, clock, front, query));
    }

    private Effect deletion(SqlDelete delete, String query) {
        Source target = target(delete.getTargetTable());
        SqlIdentifier alias = alias(delete.getAlias(), target);
        SqlSelect found = select(target, alias, List.of(), delete.getCondition(), delete);
        return new Alteration(catalog, target, plan(found, query, target), null, this::wrong);
    }

    private Effect update(SqlUpdate update, String query) {
        Source target = target(update.getTargetTable());
        SqlIdentifier alias = alias(update.getAlias(), target);
        List<String> names = new ArrayList<>();
        Set<String> taken = new HashSet<>();
        for (SqlNode column : update.getTargetColumnList()) {
            String name = field(target, withoutAlias(column, alias, target), taken, true);
            for (String path : target.primaryKey()) {
                if (path.equals(name) || path.startsWith(name + ".")) {
                    throw wrong(
                            "'%s' is of the primary key, which never changes: delete the record and insert another"
                                    .formatted(name),
                            column.getParserPosition());
                }
            }
            names.add(name);
        }
        SqlNodeList values = update.getSourceExpressionList();
        typeParameters(values, target, names);
        SqlSelect found = select(target, alias, values, update.getCondition(), update);
        // the validator rewrites what it is given
        List<SqlParserPos> places =
                values.stream().map(SqlNode::getParserPosition).toList();
        RowPlan rows = plan(found, query, target);
        List<Assignment> assignments = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            assignments.add(Assignment.of(
                    target.type(),
                    names.get(i),
                    rows,
                    target.primaryKey().size() + i,
                    places.get(i),
                    this::wrong));
        }
        return new Alteration(catalog, target, rows, assignments, this::wrong);
    }

    /** A column with the name of its table in front, unless a field is named so. */
    private static SqlNode withoutAlias(SqlNode column, SqlIdentifier alias, Source target) {
        return column instanceof SqlIdentifier path
                        && path.names.size() > 1
                        && path.names.getFirst().equals(alias.getSimple())
                        && target.type().memberOf(RecordType.TOP, path.names.getFirst()) < 0
                ? path.getComponent(1, path.names.size())
                : column;
    }

    private static SqlIdentifier alias(@Nullable SqlIdentifier given, Source target) {
        return given != null ? given : new SqlIdentifier(target.name(), SqlParserPos.ZERO);
    }

    /** The keys of the records that are changed, and the new values. */
    private static SqlSelect select(
            Source target,
            SqlIdentifier alias,
            List<SqlNode> values,
            @Nullable SqlNode condition,
            SqlNode statement) {
        SqlParserPos place = statement.getParserPosition();
        SqlNodeList columns = new SqlNodeList(place);
        for (String path : target.primaryKey()) {
            List<String> names = new ArrayList<>(List.of(alias.getSimple()));
            names.addAll(Arrays.asList(path.split("\\.", -1)));
            columns.add(new SqlIdentifier(names, place));
        }
        columns.addAll(values);
        for (int i = 0; i < columns.size(); i++) {
            SqlNode column = Objects.requireNonNull(columns.get(i));
            columns.set(
                    i,
                    SqlStdOperatorTable.AS.createCall(
                            column.getParserPosition(),
                            column,
                            new SqlIdentifier("c$" + i, place)));
        }
        SqlNode from = SqlStdOperatorTable.AS.createCall(
                place, new SqlIdentifier(Front.TARGET, place), alias);
        return new SqlSelect(
                place, null, columns, from, condition, null, null, null, null, null, null, null,
                null);
    }
}
