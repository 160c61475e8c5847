package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.geo.Place;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.Source;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.aggregate.BoundAggregates;
import io.turbidite.ops.expr.CellGrid;
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.Distances;
import io.turbidite.ops.expr.OrderKey;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.expr.Tuples;
import io.turbidite.ops.expression.TypedExpression;
import io.turbidite.ops.group.CountSource;
import io.turbidite.ops.group.GroupRows;
import io.turbidite.ops.scan.KeyOrder;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * A request whose names are resolved against a source and whose parts go together.
 * <em>Immutable.</em>
 *
 * @param source what is asked
 * @param conditions the predicates
 * @param kind what rows are
 * @param fields of groups the declared ones that are grouped by
 * @param groups of groups all that is grouped by
 * @param columns of {@code ROWS} the selected ones, empty for whole records
 * @param cellField of cells the point field, else -1
 * @param grid of cells the grid
 * @param aggregates of {@code AGGREGATES} what each group has
 * @param order of {@code ROWS} by fields; of groups by parts of the group
 * @param near place that {@code ROWS} are ordered from
 * @param limit most rows
 * @param rowType the type of the rows of the answer
 */
record CheckedQuery(
        Source source,
        Conditions conditions,
        Kind kind,
        List<Integer> fields,
        List<GroupField> groups,
        List<Column> columns,
        int cellField,
        @Nullable CellGrid grid,
        BoundAggregates aggregates,
        List<Order> order,
        @Nullable Near near,
        long limit,
        RecordType rowType) {
    /** What the rows of the answer are. */
    enum Kind {
        ROWS,
        COUNT,
        GROUPS,
        CELLS,
        /** Of groups, of cells, or of all records. */
        AGGREGATES
    }

    /**
     * Something to order by.
     *
     * @param index of a declared field, or of a part of the group (see {@link GroupRows.Part});
     *     {@link #TIMESTAMP}
     * @param nullsAbove whether null is above all values, and not below them
     * @param tokens of a declared field, counts how many of its tokens the text has; null: by value
     * @param each of the newest first: most records that are equal in what is ordered by before; 0:
     *     all of them
     */
    record Order(
            String name,
            int index,
            boolean descending,
            boolean nullsAbove,
            @Nullable TextQuery tokens,
            int each) {
        /** The {@link #index} of the timestamp of a record's version; no part of a group has it. */
        static final int TIMESTAMP = GroupRows.COUNT_PART - 1;

        private static Order newest(int each) {
            String name = each == 0 ? "newest first" : "the newest %d of each".formatted(each);
            return new Order(name, TIMESTAMP, true, false, null, each);
        }

        boolean isNewest() {
            return index == TIMESTAMP;
        }

        @Override
        public String toString() {
            if (isNewest()) {
                return name;
            }
            if (tokens != null) {
                return "tokens of \"%s\" in %s".formatted(tokens.text(), name);
            }
            String nulls = descending ? " nulls first" : " nulls last";
            return name + (descending ? " desc" : "") + (nullsAbove ? nulls : "");
        }
    }

    /**
     * A place to order by the distance from.
     *
     * @param field index of the point or rectangle
     */
    record Near(String name, int field, Place place) {
        @Override
        public String toString() {
            return "distance of %s from %s,%s".formatted(name, place.x(), place.y());
        }
    }

    static CheckedQuery of(QueryRequest request, Source source) {
        return of(
                request,
                source,
                Conditions.of(source.type(), request.predicates(), request.where(), Map.of()));
    }

    /**
     * As {@link #of(QueryRequest, Source)}, with conditions that have been made of the request's
     * predicates.
     */
    static CheckedQuery of(QueryRequest request, Source source, Conditions conditions) {
        RecordType type = conditions.type();
        checkParts(request);
        List<GroupField> groups = groups(type, request);
        BoundAggregates aggregates = aggregates(request, groups, type);
        QueryRequest.Cells cells = request.cells();
        if (cells != null) {
            int field = requireSingle(
                    type,
                    Conditions.requireDeclared(type, cells.field(), "group-cell"),
                    "group-cell");
            if (!type.field(field).kind().isPoint()) {
                throw new InvalidRequestException(
                        "group-cell names field '%s' of type %s, not point"
                                .formatted(
                                        cells.field(), type.field(field).kind().label()));
            }
            Point corner = conditions.places().corner(cells.field());
            CellGrid grid = corner == null
                    ? new CellGrid(0, 0, cells.dx(), cells.dy())
                    : new CellGrid(corner.x(), corner.y(), cells.dx(), cells.dy());
            return new CheckedQuery(
                    source,
                    conditions,
                    aggregates.isEmpty() ? Kind.CELLS : Kind.AGGREGATES,
                    List.of(),
                    List.of(),
                    List.of(),
                    field,
                    grid,
                    aggregates,
                    groupOrder(request, List.of(GroupRows.CELL), aggregates),
                    null,
                    request.limit(),
                    GroupRows.rowType(GroupRows.cellFields(), aggregates));
        }
        Kind kind = !aggregates.isEmpty()
                ? Kind.AGGREGATES
                : !request.groupBy().isEmpty()
                        ? Kind.GROUPS
                        : request.count() ? Kind.COUNT : Kind.ROWS;
        boolean isGroups = kind == Kind.GROUPS || kind == Kind.AGGREGATES;
        Near near = near(request, type);
        List<Column> columns = request.select().isEmpty()
                ? List.of()
                : SelectedColumns.columns(
                        request,
                        conditions,
                        near,
                        whole(type, indexes(type, declared(type, request.select()), "select")));
        return new CheckedQuery(
                source,
                conditions,
                kind,
                declaredOf(groups),
                groups,
                columns,
                -1,
                null,
                aggregates,
                isGroups
                        ? groupOrder(
                                request,
                                groups.stream().map(group -> group.row().name()).toList(),
                                aggregates)
                        : recordOrder(request, type),
                near,
                request.limit(),
                kind == Kind.ROWS
                        ? columns.isEmpty() ? type : Column.rowType(type, columns)
                        : rowType(kind, groups, aggregates));
    }

    private static List<String> declared(RecordType type, List<String> select) {
        return select.stream()
                .filter(name -> !SelectedColumns.isFound(type, name)
                        && !SelectedColumns.isExpression(type, name))
                .toList();
    }

    /** What is grouped by, in its order; of cells nothing. */
    private static List<GroupField> groups(RecordType type, QueryRequest request) {
        if (request.groupBy().isEmpty()) {
            return List.of();
        }
        List<String> declared = request.groupBy().stream()
                .filter(name -> !SelectedColumns.isExpression(type, name))
                .toList();
        List<Integer> fields = checkGroup(type, indexes(type, declared, "group"));
        List<GroupField> groups = new ArrayList<>();
        int next = 0;
        for (String name : request.groupBy()) {
            GroupField group = SelectedColumns.isExpression(type, name)
                    ? SelectedColumns.group(type, name)
                    : GroupField.of(type, fields.get(next++));
            String rowName = group.row().name();
            if (groups.stream().anyMatch(other -> other.row().name().equals(rowName))) {
                throw new InvalidRequestException("group names '%s' twice".formatted(rowName));
            }
            groups.add(group);
        }
        return List.copyOf(groups);
    }

    /** The declared fields among them; most queries have no groups, and make nothing for them. */
    private static List<Integer> declaredOf(List<GroupField> groups) {
        return groups.isEmpty()
                ? List.of()
                : groups.stream()
                        .filter(group -> group.expression() == null)
                        .map(GroupField::field)
                        .toList();
    }

    private static BoundAggregates aggregates(
            QueryRequest request, List<GroupField> groups, RecordType type) {
        // groups by expressions have counts as aggregates do: no index counts them alone
        boolean counts =
                !groups.isEmpty() && groups.stream().anyMatch(group -> group.expression() != null);
        if (request.aggregates().isEmpty() && !counts) {
            return BoundAggregates.NONE;
        }
        BoundAggregates bound = BoundAggregates.of(
                type,
                request.aggregates().isEmpty()
                        ? List.of(Aggregate.count())
                        : request.allAggregates(),
                name -> aggregated(type, name));
        List<String> names = new ArrayList<>(
                request.cells() == null
                        ? groups.stream().map(group -> group.row().name()).toList()
                        : List.of(GroupRows.CELL));
        for (String name : bound.names()) {
            if (names.contains(name)) {
                throw new InvalidRequestException(
                        "the rows would have two fields named '%s': give an aggregate another name"
                                .formatted(name));
            }
            names.add(name);
        }
        return bound;
    }

    private static BoundAggregates.Argument aggregated(RecordType type, String name) {
        if (SelectedColumns.isExpression(type, name)) {
            return BoundAggregates.Argument.of(
                    TypedExpression.of(Expression.value(name, Expression.Grammar.FIELDS), type));
        }
        int field = Conditions.requireDeclared(type, name, "aggregate");
        if (type.isEach(field)) {
            throw new InvalidRequestException(
                    "aggregate names '%s', the elements of an array: a record has many values of it"
                            .formatted(name));
        }
        return BoundAggregates.Argument.ofField(type, field);
    }

    private static RecordType rowType(
            Kind kind, List<GroupField> groups, BoundAggregates aggregates) {
        return switch (kind) {
            case COUNT -> CountSource.ROW_TYPE;
            case GROUPS, AGGREGATES -> GroupRows.rowType(fields(groups), aggregates);
            case ROWS, CELLS -> throw new IllegalArgumentException(kind + " have their own");
        };
    }

    private static List<Field> fields(List<GroupField> groups) {
        return groups.stream().map(GroupField::row).toList();
    }

    private static void checkParts(QueryRequest request) {
        if (!request.groupBy().isEmpty() && request.cells() != null) {
            throw new InvalidRequestException("a query groups by fields or by cells, not by both");
        }
        boolean isSummary = request.count() || !request.aggregates().isEmpty();
        if (!request.select().isEmpty() && (isSummary || request.grouped())) {
            throw new InvalidRequestException(
                    "select names fields of records, but the rows of this query are counts or aggregates: leave one out");
        }
        if (isSummary && !request.grouped() && !request.order().isEmpty()) {
            throw new InvalidRequestException("a %s is one row: there is nothing to order"
                    .formatted(request.aggregates().isEmpty() ? "count" : "summary"));
        }
        if (request.near() != null) {
            if (isSummary || request.grouped() || !request.order().isEmpty()) {
                throw new InvalidRequestException(
                        "near gives records, the nearest first: it goes with no count, aggregate, group or order");
            }
            if (request.limit() == QueryRequest.NO_LIMIT || request.limit() == 0) {
                throw new InvalidRequestException(
                        "near needs a limit of 1 or more: how many neighbours are wanted");
            }
        }
        if (request.groupBy().contains(CountSource.COUNT)
                && request.aggregates().isEmpty()) {
            throw new InvalidRequestException(
                    "a field named 'count' can't be grouped by: the rows have their count under this name");
        }
    }

    private static List<Integer> indexes(RecordType type, List<String> names, String use) {
        if (names.isEmpty()) {
            return List.of();
        }
        List<Integer> indexes = new ArrayList<>();
        for (String name : names) {
            int index = Conditions.requireDeclared(type, name, use);
            if (indexes.contains(index)) {
                throw new InvalidRequestException("%s names field '%s' twice".formatted(use, name));
            }
            indexes.add(index);
        }
        return List.copyOf(indexes);
    }

    /** Fields of one value each; those of one array's elements may be among them. */
    private static List<Integer> checkGroup(RecordType type, List<Integer> fields) {
        int each = -1;
        for (int field : fields) {
            checkScalar(type, field, "group");
            if (type.isEach(field)) {
                if (each >= 0) {
                    throw new InvalidRequestException(
                            "group names the elements of two arrays, '%s' and '%s': one at most"
                                    .formatted(
                                            type.field(each).name(),
                                            type.field(field).name()));
                }
                each = field;
            }
        }
        return fields;
    }

    private static void checkScalar(RecordType type, int field, String use) {
        Field declared = type.field(field);
        if (!declared.kind().isScalar()) {
            throw new InvalidRequestException("%s names '%s', %s"
                    .formatted(
                            use,
                            declared.name(),
                            declared.kind() == TypeKind.ARRAY
                                    ? "an array; its elements are '%s%s'"
                                            .formatted(declared.name(), RecordType.EACH)
                                    : "a nested record; name a field in it"));
        }
    }

    private static int requireSingle(RecordType type, int field, String use) {
        checkScalar(type, field, use);
        if (type.isEach(field)) {
            throw new InvalidRequestException(
                    "%s names '%s', the elements of an array: a record has many values of it"
                            .formatted(use, type.field(field).name()));
        }
        return field;
    }

    /** The elements of an array are selected as the array; what is within another comes once. */
    private static List<Integer> whole(RecordType type, List<Integer> fields) {
        List<Integer> whole = new ArrayList<>();
        for (int field : fields) {
            int selected = type.isEach(field) ? type.arrayOf(field) : field;
            for (int other : whole) {
                boolean isWithin = (selected >= other && selected < type.behind(other))
                        || (other >= selected && other < type.behind(selected));
                if (isWithin) {
                    throw new InvalidRequestException("select names field '%s' twice, as '%s' too"
                            .formatted(
                                    type.field(field).name(), type.field(other).name()));
                }
            }
            whole.add(selected);
        }
        return List.copyOf(whole);
    }

    private static List<Order> recordOrder(QueryRequest request, RecordType type) {
        if (request.order().isEmpty()) {
            return List.of();
        }
        List<Order> order = new ArrayList<>(request.order().size());
        for (QueryRequest.OrderBy by : request.order()) {
            if (by.isNewest()) {
                order.add(Order.newest(by.each()));
                continue;
            }
            order.add(new Order(
                    by.field(),
                    requireSingle(
                            type, Conditions.requireDeclared(type, by.field(), "order"), "order"),
                    by.descending(),
                    by.nullsAbove(),
                    by.tokens(),
                    0));
        }
        return Collections.unmodifiableList(order);
    }

    private static @Nullable Near near(QueryRequest request, RecordType type) {
        QueryRequest.Near near = request.near();
        if (near == null) {
            return null;
        }
        int index =
                requireSingle(type, Conditions.requireDeclared(type, near.field(), "near"), "near");
        Field field = type.field(index);
        if (!field.kind().isSpatial()) {
            throw new InvalidRequestException(
                    "near names field '%s' of type %s, neither point nor rectangle"
                            .formatted(near.field(), field.kind().label()));
        }
        return new Near(
                near.field(), index, new Place(Metric.of(field.kind()), near.x(), near.y()));
    }

    private static List<Order> groupOrder(
            QueryRequest request, List<String> groupNames, BoundAggregates aggregates) {
        List<String> names = new ArrayList<>(groupNames);
        names.addAll(aggregates.names());
        boolean isCounted = aggregates.isEmpty();
        List<Order> order = new ArrayList<>();
        for (QueryRequest.OrderBy by : request.order()) {
            if (by.isNewest()) {
                throw new InvalidRequestException(
                        "groups have no version: only records are ordered newest first");
            }
            if (by.tokens() != null) {
                throw new InvalidRequestException(
                        "groups have no text: only records are ordered by their tokens");
            }
            boolean byCount = isCounted && by.field().equals(CountSource.COUNT);
            if (!byCount && !names.contains(by.field())) {
                throw new InvalidRequestException("order names '%s'; groups are ordered by %s%s"
                        .formatted(
                                by.field(),
                                String.join(", ", names),
                                isCounted ? " or count" : ""));
            }
            int index = byCount ? GroupRows.COUNT_PART : names.indexOf(by.field());
            order.add(new Order(by.field(), index, by.descending(), by.nullsAbove(), null, 0));
        }
        return List.copyOf(order);
    }

    /** The same question with other conditions, or about other values. */
    CheckedQuery with(Conditions others) {
        return new CheckedQuery(
                source,
                others,
                kind,
                fields,
                groups,
                columns,
                cellField,
                grid,
                aggregates,
                order,
                near,
                limit,
                rowType);
    }

    RecordType type() {
        return conditions.type();
    }

    /** Whether rows are the newest few records. */
    boolean wantsNewest() {
        return kind == Kind.ROWS
                && hasLimit()
                && order.size() == 1
                && order.getFirst().isNewest();
    }

    /**
     * What is ordered by before the newest few of each are taken; -1 if they are not asked for. In
     * all rows but records nobody asks for them.
     */
    int ordersBeforeEach() {
        for (int i = 0; i < order.size(); i++) {
            if (order.get(i).each() > 0) {
                return i;
            }
        }
        return -1;
    }

    /** Whether the newest of each key of some fields are wanted, by these keys upwards. */
    boolean wantsNewestOfEach(List<String> fields, KeyForm form) {
        // what is ordered by behind it would break ties that the index breaks by primary key
        if (kind != Kind.ROWS
                || ordersBeforeEach() != fields.size()
                || order.size() != fields.size() + 1) {
            return false;
        }
        for (int i = 0; i < fields.size(); i++) {
            Order by = order.get(i);
            if (by.descending()
                    || by.nullsAbove()
                    || by.tokens() != null
                    || !by.name().equals(fields.get(i))
                    || form.isAmbiguous(type().field(by.index()).kind())) {
                return false;
            }
        }
        return true;
    }

    boolean hasLimit() {
        return limit != QueryRequest.NO_LIMIT;
    }

    /**
     * The primary key's order that the rows are wanted in. Ties are broken by the primary key,
     * ascending: so its first fields will do upwards, and downwards only all of it.
     */
    KeyOrder primaryKeyOrder() {
        List<String> key = source.primaryKey();
        if (kind != Kind.ROWS || order.isEmpty() || order.size() > key.size()) {
            return KeyOrder.NONE;
        }
        int descending = 0;
        for (int i = 0; i < order.size(); i++) {
            if (order.get(i).isNewest()) {
                return KeyOrder.NONE;
            }
            // where one value has two keys, what is ordered by keys is not ordered by values
            boolean isAmbiguous = source.keyForm()
                    .isAmbiguous(type().field(type().indexOf(key.get(i))).kind());
            if (isAmbiguous
                    || order.get(i).tokens() != null
                    || !order.get(i).name().equals(key.get(i))) {
                return KeyOrder.NONE;
            }
            descending += order.get(i).descending() ? 1 : 0;
        }
        if (descending == 0) {
            return KeyOrder.ASCENDING;
        }
        return descending == key.size() ? KeyOrder.DESCENDING : KeyOrder.NONE;
    }

    /** What records must fulfil that a way in has not looked at, for one thread. */
    RecordPredicate[] compile(List<String> decided) {
        RecordPredicate[] predicates = conditions.compile(decided);
        Distances distances = distances();
        if (distances == null) {
            return predicates;
        }
        RecordPredicate[] all = Arrays.copyOf(predicates, predicates.length + 1);
        all[predicates.length] = distances;
        return all;
    }

    /** How far records are, for one thread; null if that is not asked. */
    @Nullable
    Distances distances() {
        return near == null ? null : new Distances(type(), near.field(), near.place());
    }

    /** Makes the rows, for one thread; null where they are the records. */
    @Nullable
    Projection newProjection() {
        return columns.isEmpty() ? null : Projection.of(type(), columns, rowType);
    }

    /** Fields that a count or groups by fields need of a record, predicates included. */
    List<Integer> fieldsNeeded() {
        List<Integer> needed = new ArrayList<>(fields);
        conditions.ranges().forEach(range -> needed.add(range.field()));
        return needed;
    }

    List<Field> groupFields() {
        return fields(groups);
    }

    /** The names of what is grouped by. */
    String groupNames() {
        return String.join(
                ", ", groups.stream().map(group -> group.row().name()).toList());
    }

    /** Makes the keys of groups, for one thread. */
    TupleMaker newGroupKeys() {
        List<OrderKey> keys = groups.stream().map(group -> group.newKey(type())).toList();
        int each = fields.stream().filter(type()::isEach).findFirst().orElse(-1);
        return Tuples.groupKey(keys, each);
    }

    List<GroupRows.Part> groupParts() {
        return order.stream()
                .map(by -> new GroupRows.Part(by.index(), by.descending(), by.nullsAbove()))
                .toList();
    }
}
