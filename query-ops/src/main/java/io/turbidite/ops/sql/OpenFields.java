package io.turbidite.ops.sql;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Function;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.util.SqlShuttle;
import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Finds the fields that a statement names behind a table and that its dataset does not declare:
 * {@code t.lang}, {@code t.user.name}. Before the statement is validated, each becomes a column of
 * the dataset, so that the validator finds it; a star does not show it. A path that begins with a
 * nested record gets its table's name in front.
 *
 * <p><em>Confined to one thread.</em>
 */
final class OpenFields {
    /** What each name of a table can be: a dataset, or rows that have their fields alone. */
    private final Map<String, SourceAndView> datasets;

    private final Map<String, Map<String, Path>> found = new HashMap<>();

    /** Tables of {@code WITH}, which hide datasets of their names. */
    private final Set<String> withNames = new HashSet<>();

    private final Deque<Scope> scopes = new ArrayDeque<>();

    OpenFields(Map<String, SourceAndView> datasets) {
        this.datasets = datasets;
    }

    /**
     * A field that is not declared.
     *
     * @param column its name as a column of its dataset
     * @param names from the top of the record on
     */
    record Path(String column, List<String> names) {
        Path {
            names = List.copyOf(names);
        }

        /** What it has, of a record. */
        Expression value() {
            return Terms.call(
                    Function.OPEN_FIELD,
                    names.stream().map(Terms::text).toArray(Expression[]::new));
        }
    }

    /** The tables of one {@code SELECT}, by their names, in their order. */
    private static final class Scope {
        private final Map<String, @Nullable SourceAndView> tables = new LinkedHashMap<>();

        /** Whether a star gives columns of two tables once. */
        private boolean mergesColumns;
    }

    /** Those of a dataset that were found. */
    List<Path> of(String dataset) {
        return List.copyOf(found.getOrDefault(dataset, Map.of()).values());
    }

    /** The statement, with a column for each such field. */
    SqlNode rewritten(SqlNode statement) {
        SqlNode named = statement.accept(new Naming());
        return found.isEmpty() || named == null ? orSame(named, statement) : starless(named);
    }

    private static SqlNode orSame(@Nullable SqlNode node, SqlNode other) {
        return node == null ? other : node;
    }

    private SqlNode starless(SqlNode named) {
        return orSame(named.accept(new Stars()), named);
    }

    /** Keeps the tables that each part of a statement sees. */
    private abstract class Walk extends SqlShuttle {
        @Override
        public @Nullable SqlNode visit(SqlCall call) {
            return switch (call) {
                case SqlSelect select -> within(scope(select), () -> select(select));
                case SqlOrderBy order
                when order.query instanceof SqlSelect select ->
                    within(scope(select), () -> super.visit(order));
                case SqlWith with -> {
                    for (SqlNode item : with.withList) {
                        if (item instanceof SqlWithItem named) {
                            withNames.add(named.name.getSimple());
                        }
                    }
                    yield super.visit(call);
                }
                default -> super.visit(call);
            };
        }

        @Nullable
        SqlNode select(SqlSelect select) {
            return super.visit(select);
        }

        private @Nullable SqlNode within(Scope scope, Supplier<@Nullable SqlNode> part) {
            scopes.push(scope);
            try {
                return part.get();
            } finally {
                scopes.pop();
            }
        }
    }

    private Scope scope(SqlSelect select) {
        Scope scope = new Scope();
        if (select.getFrom() != null) {
            add(select.getFrom(), scope);
        }
        return scope;
    }

    private void add(SqlNode from, Scope scope) {
        switch (from) {
            case SqlJoin join -> {
                scope.mergesColumns |=
                        join.isNatural() || join.getConditionType() == JoinConditionType.USING;
                add(join.getLeft(), scope);
                add(join.getRight(), scope);
            }
            case SqlIdentifier name
            when name.isSimple() -> scope.tables.put(name.getSimple(), dataset(name));
            case SqlCall as
            when as.getKind() == SqlKind.AS && as.operandCount() >= 2 -> {
                boolean isRenamed = as.operandCount() > 2;
                scope.tables.put(
                        ((SqlIdentifier) as.operand(1)).getSimple(),
                        !isRenamed && as.operand(0) instanceof SqlIdentifier name
                                ? dataset(name)
                                : null);
            }
            default -> {
                // rows without a name: nothing can be asked of them by one
            }
        }
    }

    private @Nullable SourceAndView dataset(SqlIdentifier name) {
        return name.isSimple() && !withNames.contains(name.getSimple())
                ? datasets.get(name.getSimple())
                : null;
    }

    /** Makes columns of paths. */
    private final class Naming extends Walk {
        @Override
        public SqlNode visit(SqlIdentifier path) {
            if (path.names.size() < 2 || path.isStar()) {
                return path;
            }
            String first = path.names.getFirst();
            for (Scope scope : scopes) {
                if (scope.tables.containsKey(first)) {
                    return column(path, first, scope.tables.get(first), 1);
                }
            }
            return behindTable(path, first);
        }

        /** A path that begins with a nested record of one of the tables. */
        private SqlNode behindTable(SqlIdentifier path, String first) {
            for (Scope scope : scopes) {
                String table = null;
                for (Map.Entry<String, @Nullable SourceAndView> entry : scope.tables.entrySet()) {
                    if (isRecord(entry.getValue(), first)) {
                        if (table != null) {
                            return path;
                        }
                        table = entry.getKey();
                    }
                }
                if (table != null) {
                    List<String> names = new ArrayList<>(List.of(table));
                    names.addAll(path.names);
                    SqlIdentifier whole = new SqlIdentifier(names, path.getParserPosition());
                    return column(whole, table, scope.tables.get(table), 1);
                }
            }
            return path;
        }

        private static boolean isRecord(@Nullable SourceAndView dataset, String name) {
            if (dataset == null) {
                return false;
            }
            RecordType type = dataset.source().type();
            int field = type.memberOf(RecordType.TOP, name);
            return field >= 0 && type.field(field).kind() == TypeKind.RECORD;
        }

        private SqlNode column(
                SqlIdentifier path, String table, @Nullable SourceAndView dataset, int from) {
            List<String> names = path.names.subList(from, path.names.size());
            if (dataset == null || isDeclared(dataset.source().type(), names)) {
                return path;
            }
            String column = String.join(".", names);
            found.computeIfAbsent(dataset.source().name(), name -> new LinkedHashMap<>())
                    .put(column, new Path(column, names));
            return new SqlIdentifier(List.of(table, column), path.getParserPosition());
        }

        private static boolean isDeclared(RecordType type, List<String> names) {
            int field = RecordType.TOP;
            for (String name : names) {
                if (field != RecordType.TOP && type.field(field).kind() != TypeKind.RECORD) {
                    // what has no fields at all is told by the validator
                    return true;
                }
                field = type.memberOf(field, name);
                if (field < 0) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Writes out the stars over datasets that have such columns. */
    private final class Stars extends Walk {
        @Override
        @Nullable
        SqlNode select(SqlSelect select) {
            SqlNodeList columns = new SqlNodeList(select.getSelectList().getParserPosition());
            for (SqlNode column : select.getSelectList()) {
                if (column instanceof SqlIdentifier star && star.isStar()) {
                    columns.addAll(shown(star));
                } else {
                    columns.add(column);
                }
            }
            select.setSelectList(columns);
            return super.select(select);
        }

        private List<SqlNode> shown(SqlIdentifier star) {
            Scope scope = scopes.getFirst();
            List<SqlNode> columns = new ArrayList<>();
            if (star.names.size() > 1) {
                String table = star.names.getFirst();
                add(columns, table, scope.tables.get(table), star);
                return columns;
            }
            boolean isTouched = scope.tables.values().stream()
                    .anyMatch(of -> of != null && found.containsKey(of.source().name()));
            if (!isTouched) {
                return List.of(star);
            }
            if (scope.mergesColumns) {
                throw Terms.unsupported(
                        "* over USING or NATURAL beside a field that is not declared");
            }
            scope.tables.forEach((table, of) -> add(columns, table, of, star));
            return columns;
        }

        private void add(
                List<SqlNode> columns,
                String table,
                @Nullable SourceAndView of,
                SqlIdentifier star) {
            SqlParserPos place = star.getParserPosition();
            if (of == null || !found.containsKey(of.source().name())) {
                columns.add(
                        star.names.size() > 1
                                ? star
                                : SqlIdentifier.star(
                                        List.of(table, ""), place, List.of(place, place)));
                return;
            }
            for (Field field : of.source().type().declared()) {
                columns.add(new SqlIdentifier(List.of(table, field.name()), place));
            }
        }
    }
}
