package io.turbidite.ops.sql;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.Nulls;
import io.turbidite.ops.Order;
import io.turbidite.ops.Query;
import io.turbidite.ops.Relation;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.expr.Predicate;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A query in the making: it takes in operators as long as one query can do them, in its order:
 * conditions, groups, order, limit, columns. What does not fit goes on top of it as a new query.
 * <em>Confined to one thread.</em>
 */
final class Block {
    /** Longer columns are calculated once, by a query of their own. */
    private static final int INLINED_CHARS_MAX = 1_000;

    static final long NO_LIMIT = -1;

    private final @Nullable SourceAndView source;
    private final @Nullable Relation rows;
    private final RecordType type;
    private final List<Expression> where = new ArrayList<>();
    private final List<Predicate> predicates = new ArrayList<>();
    private final List<By> order = new ArrayList<>();
    private List<String> groupBy = List.of();
    private List<Aggregate> aggregates = List.of();
    private boolean isGrouped;
    private long limit = NO_LIMIT;
    private long offset;
    private List<Expression> columns;

    /** A field to order by. */
    record By(String field, Order direction, Nulls nulls) {}

    private Block(
            @Nullable SourceAndView source,
            @Nullable Relation rows,
            RecordType type,
            List<Expression> columns) {
        this.source = source;
        this.rows = rows;
        this.type = type;
        this.columns = columns;
    }

    /** All of a source. */
    static Block of(SourceAndView source) {
        return new Block(
                source,
                null,
                source.source().type(),
                source.source().type().declared().stream()
                        .<Expression>map(field -> new Expression.Name(field.name()))
                        .toList());
    }

    /** All of a source, and fields that are not declared behind it. */
    static Block of(SourceAndView source, List<OpenFields.Path> open) {
        Block block = of(source);
        List<Expression> columns = new ArrayList<>(block.columns);
        open.forEach(path -> columns.add(path.value()));
        block.columns(columns);
        return block;
    }

    /** All rows of a relation, or those of its fields that are named. */
    static Block of(Relation rows, List<String> fields) {
        return new Block(
                null,
                rows,
                rows.type(),
                fields.stream().<Expression>map(Expression.Name::new).toList());
    }

    /** What each column of the output is made of. */
    List<Expression> columns() {
        return columns;
    }

    /** The field that a column is as it is; null: it is calculated. */
    @Nullable
    String fieldOf(int column) {
        return columns.get(column) instanceof Expression.Name(String name) ? name : null;
    }

    /** The kind of a field of what it reads. */
    @Nullable
    TypeKind kindOf(String field) {
        int index = type.indexOf(field);
        return index < 0 ? null : type.field(index).kind();
    }

    /** Whether its columns are fields of records or rows that it reads, with nothing behind. */
    boolean takesConditions() {
        return !isGrouped && !isLimited();
    }

    boolean takesGroups() {
        return takesConditions();
    }

    /** Whether it has one row, of no groups: nothing to order. */
    boolean isSummary() {
        return isGrouped && groupBy.isEmpty();
    }

    boolean takesOrder() {
        return !isLimited();
    }

    boolean takesLimit() {
        return !isLimited();
    }

    /** Whether columns may be calculated. */
    boolean takesColumns() {
        if (isGrouped) {
            return false;
        }
        int chars = 0;
        for (Expression column : columns) {
            chars += column instanceof Expression.Name ? 0 : column.text().length();
        }
        return chars <= INLINED_CHARS_MAX;
    }

    void where(List<Expression> conditions) {
        where.addAll(conditions);
    }

    void where(Predicate predicate) {
        predicates.add(predicate);
    }

    void columns(List<Expression> newColumns) {
        columns = List.copyOf(newColumns);
    }

    void groups(List<String> fields, List<Aggregate> wanted, List<Expression> newColumns) {
        isGrouped = true;
        groupBy = fields;
        aggregates = wanted;
        order.clear();
        columns = List.copyOf(newColumns);
    }

    void order(List<By> by) {
        order.clear();
        order.addAll(by);
    }

    void limit(long skipped, long rowCount) {
        offset = skipped;
        limit = rowCount;
    }

    private boolean isLimited() {
        return limit != NO_LIMIT || offset > 0;
    }

    /** The query, whose rows have the columns under these names. */
    Relation named(List<String> names) {
        Query query = query();
        if (isGrouped) {
            Query over = Query.on(query);
            return over.select(selected(names));
        }
        return query.select(selected(names));
    }

    private List<String> selected(List<String> names) {
        List<String> selected = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            selected.add("(%s) as %s"
                    .formatted(
                            LongTexts.text(Terms.typed(columns.get(i))),
                            new Expression.Name(names.get(i)).text()));
        }
        if (selected.isEmpty()) {
            selected.add("(1) as nothing");
        }
        return selected;
    }

    /** Whether its columns are fields of what it reads, each once. */
    boolean areFields() {
        return !isGrouped && areNames() && new HashSet<>(columns).size() == columns.size();
    }

    /** The names of the fields that its columns are. */
    List<String> columnFields() {
        return columns.stream().map(column -> ((Expression.Name) column).name()).toList();
    }

    /** The names of all fields of what it reads. */
    Set<String> fieldNames() {
        return type.declared().stream().map(Field::name).collect(Collectors.toSet());
    }

    /** The query, whose rows are whole. */
    Relation whole() {
        return query();
    }

    /** A block over the rows of this one: its columns are fields there. */
    Block wrapped() {
        if (isGrouped && areNames()) {
            Relation relation = query();
            return of(relation, columnFields());
        }
        List<String> names = InnerNames.of(columns, "c$");
        return of(named(names), names);
    }

    private boolean areNames() {
        return columns.stream().allMatch(Expression.Name.class::isInstance);
    }

    private Query query() {
        if (source == null) {
            return finished(Query.on(Objects.requireNonNull(rows)), where);
        }
        Hosting hosting = source.hosting();
        return hosting == null ? finished(source.query(), where) : hosted(source.source(), hosting);
    }

    /** Of records that are elsewhere: what can be done there is. */
    private Query hosted(Source of, Hosting hosting) {
        List<Expression> there = hosting.taken(where);
        List<Expression> here =
                where.stream().filter(condition -> !there.contains(condition)).toList();
        Query groups = isGrouped && here.isEmpty() && predicates.isEmpty()
                ? hosting.grouped(of, there, groupBy, aggregates)
                : null;
        return groups == null ? finished(Query.on(hosting.rows(of, there)), here) : inOrder(groups);
    }

    private Query finished(Query query, List<Expression> conditions) {
        predicates.forEach(query::where);
        conditions.forEach(query::where);
        if (isGrouped) {
            query.groupBy(groupBy.toArray(String[]::new));
            query.aggregate(aggregates.toArray(Aggregate[]::new));
        }
        return inOrder(query);
    }

    private Query inOrder(Query query) {
        for (By by : order) {
            query.orderBy(by.field(), by.direction(), by.nulls());
        }
        if (offset > 0) {
            query.offset(offset);
        }
        if (limit != NO_LIMIT) {
            query.limit(limit);
        }
        return query;
    }
}
