package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.NamedExpression;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.geo.Place;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.expression.TypedExpression;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What a selected name means: a declared field, or what the query finds out about a record, under a
 * name that no field has. Static, without state.
 */
final class SelectedColumns {
    /** What a query can find out. */
    private enum Found {
        DISTANCE(
                "is how far records are from the place of near, or of the first distance asked for"),
        SIMILARITY(
                "is the share of tokens in common with the text of the first similarity by jaccard"),
        TOKENS("is the number of tokens of the question for most tokens");

        private final String meaning;

        Found(String meaning) {
            this.meaning = meaning;
        }

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What may be the name of a field or of what a query finds out. */
    private static final Pattern NAME = Pattern.compile("[\\p{L}\\p{N}_$.\\-]*(\\[])?");

    private SelectedColumns() {}

    /** Whether the name is that of a column which is no field. */
    static boolean isFound(RecordType type, String name) {
        return found(name) != null && type.indexOf(name) < 0;
    }

    private static @Nullable Found found(String name) {
        for (Found found : Found.values()) {
            if (found.label().equals(name)) {
                return found;
            }
        }
        return null;
    }

    private static Column column(
            Found found,
            String name,
            Conditions conditions,
            CheckedQuery.@Nullable Near near,
            QueryRequest request) {
        Column column = switch (found) {
            case DISTANCE -> distance(name, conditions, near);
            case SIMILARITY -> similarity(name, conditions);
            case TOKENS -> tokens(name, conditions.type(), request);
        };
        if (column == null) {
            throw new InvalidRequestException("select names '%s', which %s: the query has none"
                    .formatted(name, found.meaning));
        }
        return column;
    }

    private static @Nullable Column distance(
            String name, Conditions conditions, CheckedQuery.@Nullable Near near) {
        if (near != null) {
            return new Column.Far(name, near.field(), near.place());
        }
        RecordType type = conditions.type();
        for (Predicate predicate : conditions.predicates()) {
            if (predicate instanceof Predicate.Distance(String of, double x, double y, var _)) {
                int field = single(type, of, name);
                Metric metric = Metric.of(type.field(field).kind());
                return new Column.Far(name, field, new Place(metric, x, y));
            }
        }
        return null;
    }

    private static @Nullable Column similarity(String name, Conditions conditions) {
        for (Predicate predicate : conditions.predicates()) {
            if (predicate instanceof Predicate.Matches(String of, TextQuery asked)
                    && asked instanceof TextQuery.Jaccard jaccard) {
                return new Column.Similar(name, single(conditions.type(), of, name), jaccard);
            }
        }
        return null;
    }

    private static @Nullable Column tokens(String name, RecordType type, QueryRequest request) {
        for (QueryRequest.OrderBy by : request.order()) {
            if (by.tokens() != null) {
                return new Column.TokenCount(name, single(type, by.field(), name), by.tokens());
            }
        }
        return null;
    }

    private static int single(RecordType type, String of, String name) {
        int field = type.indexOf(of);
        if (type.isEach(field)) {
            throw new InvalidRequestException(
                    "select names '%s', and '%s' are the elements of an array: a record has one for each"
                            .formatted(name, of));
        }
        return field;
    }

    /**
     * The columns of a select, in its order.
     *
     * @param declared the fields among them, in their order
     * @throws InvalidRequestException if the query doesn't ask for what one shows
     */
    static List<Column> columns(
            QueryRequest request,
            Conditions conditions,
            CheckedQuery.@Nullable Near near,
            List<Integer> declared) {
        RecordType type = conditions.type();
        List<Column> columns = new ArrayList<>(request.select().size());
        int next = 0;
        for (String name : request.select()) {
            Found found = type.indexOf(name) < 0 ? found(name) : null;
            if (found != null) {
                Column column = column(found, name, conditions, near, request);
                if (columns.contains(column)) {
                    throw new InvalidRequestException("select names '%s' twice".formatted(name));
                }
                columns.add(column);
            } else if (isExpression(type, name)) {
                columns.add(computed(type, name));
            } else {
                int field = declared.get(next++);
                columns.add(new Column.Declared(type.field(field).name(), field));
            }
        }
        checkNames(columns);
        return List.copyOf(columns);
    }

    private static void checkNames(List<Column> columns) {
        Set<String> names = new HashSet<>();
        for (Column column : columns) {
            if (!names.add(column.name())) {
                throw new InvalidRequestException(
                        "select names '%s' twice".formatted(column.name()));
            }
        }
    }

    /** Whether a text is no name, and so an expression with one. */
    static boolean isExpression(RecordType type, String text) {
        return type.indexOf(text) < 0 && !NAME.matcher(text).matches();
    }

    /** An expression with a name, to group by. */
    static GroupField group(RecordType type, String text) {
        NamedExpression named = NamedExpression.of(text);
        String name = named.name();
        if (name == null) {
            throw new InvalidRequestException(
                    "a value that is grouped by needs a name: write '%s as name'".formatted(text));
        }
        return GroupField.of(name, TypedExpression.of(named.expression(), type));
    }

    private static Column computed(RecordType type, String text) {
        NamedExpression named = NamedExpression.of(text);
        String name = named.name();
        if (name == null) {
            throw new InvalidRequestException(
                    "a value that is selected needs a name: write '%s as name'".formatted(text));
        }
        if (named.expression() instanceof Expression.Name(String of)) {
            int field = type.indexOf(of);
            if (field >= 0 && !type.isEach(field)) {
                return new Column.Declared(name, field);
            }
        }
        TypedExpression typed = TypedExpression.of(named.expression(), type);
        return new Column.Computed(name, typed.toString(), typed.kind(), typed::computed);
    }
}
