package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.plan.Plan;
import io.turbidite.ops.plan.PreparedPlan;
import io.turbidite.ops.plan.QueryRequest;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.plan.SkippedPlan;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A query of one source, or over the rows of another relation, built call by call and then run.
 *
 * <pre>{@code
 * try (QueryResult rows = Query.on(flights)
 *         .where(Predicates.eq("tailnum", "N14228"))
 *         .select("flight", "dest_name")
 *         .orderBy("scheduled_departure", Order.DESC)
 *         .limit(10)
 *         .run()) {
 *     rows.forEachJson(System.out);
 * }
 * }</pre>
 *
 * <p>Without an order, rows come in no promised order. With an order, rows that are equal in all of
 * it come by primary key. Rows of a grouped query come by group unless ordered. The answer is that
 * of one moment (D3).
 *
 * <p>Every mistake in a query (an undeclared field, a value of the wrong class, parts that do not
 * go together) is an {@link InvalidRequestException} from {@link #run} or {@link #explain}, or
 * already from the call that makes the mistake, if it shows there.
 *
 * <p>If you ask a query often with different values, prepare it once: {@link #prepare}.
 *
 * <p><em>Confined to one thread.</em> Each call changes this query and returns it; it may be run
 * often.
 */
public final class Query extends Relation {
    /** What it is of; null: of {@link #rows}. */
    private final @Nullable Source source;

    /** Its moment; null: as it is when the query runs. */
    private final @Nullable ReadView view;

    /** Whose rows it is over; null: of a source. */
    private final @Nullable Relation rows;

    private List<Predicate> predicates = List.of();
    private List<Expression> where = List.of();
    private List<String> select = List.of();
    private List<String> groupBy = List.of();
    private List<QueryRequest.OrderBy> order = List.of();
    private QueryRequest.@Nullable Cells cells;
    private List<Aggregate> aggregates = List.of();
    private boolean count;
    private QueryRequest.@Nullable Near near;
    private long limit = QueryRequest.NO_LIMIT;
    private long offset;
    private boolean distinct;
    private @Nullable String access;

    private Query(@Nullable Source source, @Nullable ReadView view, @Nullable Relation rows) {
        this.source = source;
        this.view = view;
        this.rows = rows;
    }

    /** A query of {@code source}, as it is when the query runs. */
    public static Query on(Source source) {
        return new Query(Given.notNull(source, "the source of a query"), null, null);
    }

    /**
     * A query of the moment that {@code view} shows; the caller closes the view, after the results.
     */
    public static Query on(ReadView view) {
        return new Query(Given.notNull(view, "the view of a query").source(), view, null);
    }

    /**
     * A query over the rows of another relation: they are what records are to a query of a source.
     * Equal rows of an order keep the order in which they come. Rows have no index.
     */
    public static Query on(Relation rows) {
        return new Query(null, null, Given.notNull(rows, "the rows of a query"));
    }

    /** Adds a condition; a record must fulfil all of them. */
    public Query where(Predicate predicate) {
        predicates = with(predicates, Given.notNull(predicate, "a predicate"));
        return this;
    }

    /**
     * Adds a condition, written in the language of {@link Expression}: {@code delay > 30 and dest
     * in ('JFK', 'LGA')}. A name behind a colon is a parameter of a prepared query: {@code delay >
     * :least}. What compares a field with a constant uses indexes as predicates do.
     *
     * @throws InvalidRequestException with the position of what is wrong in the text
     */
    public Query where(String condition) {
        String text = Given.notNull(condition, "a condition");
        return where(Expression.condition(text, Expression.Grammar.FIELDS));
    }

    /**
     * Adds a condition that has been read, or made: it may be longer than a text.
     *
     * @throws InvalidRequestException if it is a value, no condition
     */
    public Query where(Expression condition) {
        where = with(where, Given.condition(condition));
        return this;
    }

    /**
     * Returns these declared fields, in this order, instead of whole records. If no field has such
     * a name, {@code distance} is how far a record is from the place of {@link #near}, or of the
     * first {@link Predicates#distance}; {@code similarity} is what the first {@link
     * Predicates#jaccard} compares; {@code tokens} is the count that {@link #mostTokens} orders by.
     */
    public Query select(String... fields) {
        return select(Arrays.asList(Given.notNull(fields, "the list of selected fields")));
    }

    /** As {@link #select(String...)}. */
    public Query select(List<String> fields) {
        for (String field : Given.notNull(fields, "the list of selected fields")) {
            select = with(select, Given.notNull(field, "a selected field"));
        }
        return this;
    }

    /**
     * Returns one row {@code {"count": n}} instead of records; with {@link #aggregate}, the count
     * before the aggregates.
     */
    public Query count() {
        count = true;
        return this;
    }

    /**
     * Returns a row {@code {field…, "count": n}} for each combination of values; null and missing
     * count as the same value. In place of a field an expression with a name may stand: {@code
     * groupBy("year(sent) as y")}.
     */
    public Query groupBy(String... fields) {
        for (String field : Given.notNull(fields, "the list of fields to group by")) {
            groupBy = with(groupBy, Given.notNull(field, "a field to group by"));
        }
        return this;
    }

    /**
     * Returns these aggregates instead of counts: for each group {@code {field…, name of the
     * aggregate…}}, and without groups one row, even where no record matches.
     *
     * <pre>{@code
     * query.groupBy("carrier")
     *         .aggregate(Aggregate.avg("delay"), Aggregate.max("delay").as("worst"))
     * }</pre>
     *
     * @throws InvalidRequestException when it runs, if a field is not declared or not of a type
     *     that the aggregate takes, or a sum does not fit its type
     */
    public Query aggregate(Aggregate... wanted) {
        for (Aggregate aggregate : Given.notNull(wanted, "the list of aggregates")) {
            aggregates = with(aggregates, Given.notNull(aggregate, "an aggregate"));
        }
        return this;
    }

    /**
     * Returns a row {@code {"cell": [minX, minY, maxX, maxY], "count": n}} for each cell that holds
     * points. Cells include their lower borders only; they start at the lower left of the query's
     * window on the same field, else at 0,0. Records without a point are counted under a null cell.
     *
     * @param dx width of a cell, finite and above 0
     * @param dy height of a cell, finite and above 0
     */
    public Query groupByCell(String field, double dx, double dy) {
        if (cells != null) {
            throw new InvalidRequestException("a query groups by one grid of cells");
        }
        if (!(dx > 0 && dy > 0 && Double.isFinite(dx) && Double.isFinite(dy))) {
            throw new InvalidRequestException(
                    "cells of %s by %s: both must be finite and above 0".formatted(dx, dy));
        }
        cells = new QueryRequest.Cells(Given.notNull(field, "the field of the cells"), dx, dy);
        return this;
    }

    /** Reads {@code f=dx,dy} for {@link #groupByCell(String, double, double)}. */
    public Query groupByCell(String text) {
        String[] parts = Predicates.split("group-cell", text, "f=dx,dy");
        double[] sizes = Predicates.numbers("group-cell", parts[1], 2, "f=dx,dy");
        return groupByCell(parts[0], sizes[0], sizes[1]);
    }

    /**
     * Orders rows. The first call decides, each further call breaks ties. Records order by any
     * declared field, groups by their fields, {@code cell}, {@code count} and the names of their
     * aggregates. Null and missing are below all values.
     */
    public Query orderBy(String field, Order direction) {
        Given.notNull(direction, "the direction of an order");
        return orderBy(field, direction, direction == Order.ASC ? Nulls.FIRST : Nulls.LAST);
    }

    /** As {@link #orderBy(String, Order)}, with null and missing where {@code nulls} says. */
    public Query orderBy(String field, Order direction, Nulls nulls) {
        Given.notNull(field, "a field to order by");
        Given.notNull(direction, "the direction of an order");
        Given.notNull(nulls, "the place of nulls in an order");
        boolean isDescending = direction == Order.DESC;
        boolean nullsAbove = isDescending == (nulls == Nulls.FIRST);
        order = with(order, new QueryRequest.OrderBy(field, isDescending, nullsAbove, null, 0));
        return this;
    }

    /**
     * Reads {@code f}, {@code f:asc} or {@code f:desc}.
     *
     * @throws InvalidRequestException if something else follows a colon
     */
    public Query orderBy(String text) {
        if (Given.notNull(text, "an order").endsWith(":desc")) {
            return orderBy(text.substring(0, text.length() - ":desc".length()), Order.DESC);
        }
        // a field's own name may hold a colon
        if (text.contains(":") && !text.endsWith(":asc") && inputType().indexOf(text) < 0) {
            throw new InvalidRequestException(
                    "order '%s' is wrong: only :asc or :desc can follow a field".formatted(text));
        }
        return orderBy(
                text.endsWith(":asc") ? text.substring(0, text.length() - ":asc".length()) : text,
                Order.ASC);
    }

    /**
     * Asks for the records whose text has at least one of the tokens of {@code text} ({@link
     * Predicates#containsAny}), and orders them by how many it has, most first: with a {@link
     * #limit}, those that have most. It is an order like those of {@link #orderBy}: what is ordered
     * by before decides before it, what is ordered by after breaks its ties.
     */
    public Query mostTokens(String field, Tokenizer tokenizer, String text) {
        Predicate predicate = Predicates.containsAny(field, tokenizer, text);
        TextQuery asked = new TextQuery.Any(tokenizer, text);
        order = with(order, new QueryRequest.OrderBy(field, true, asked));
        return where(predicate);
    }

    /** Reads {@code f=text} or {@code f:tokenizer=text}; by words if it names none. */
    public Query mostTokens(String text) {
        if (!(Predicates.parseContainsAny(text) instanceof Predicate.Matches(var field, var asked))
                || !(asked instanceof TextQuery.Any(Tokenizer tokenizer, String tokens))) {
            throw new IllegalStateException(text);
        }
        return mostTokens(field, tokenizer, tokens);
    }

    /**
     * Orders records by when their present version was written, the newest first; of one batch, or
     * of one load, the later record is the newer. It is an order like those of {@link #orderBy}:
     * what is ordered by before decides before it, what is ordered by after breaks its ties, which
     * records of a batch of an earlier release have.
     *
     * <p>An index of kind {@code pm} has its entries in this order: with equalities on all of its
     * fields and a {@link #limit} only so many of them are read as give the rows.
     *
     * @throws InvalidRequestException when it runs, if the rows are counts, groups or aggregates,
     *     or come by {@link #near}
     */
    public Query newestFirst() {
        return newest(QueryRequest.OrderBy.newest());
    }

    /**
     * As {@link #newestFirst()}, and of records that are equal in what was ordered by before only
     * the newest few come: {@code orderBy("line").newestFirst(5)} gives the five newest of each
     * line. Conditions are looked at before, a {@link #limit} counts what is left.
     *
     * <p>An index of kind {@code pm} on the fields that were ordered by before, all of them upwards
     * and in the order of the index, is read key after key, and of each key only so many records as
     * give the rows.
     *
     * @param each most records of each, at least 1
     * @throws InvalidRequestException if {@code each} is below 1, and as {@link #newestFirst()}
     */
    public Query newestFirst(int each) {
        if (each < 1) {
            throw new InvalidRequestException(
                    "the newest %d of each: at least 1 is wanted".formatted(each));
        }
        return newest(QueryRequest.OrderBy.newestOfEach(each));
    }

    private Query newest(QueryRequest.OrderBy by) {
        if (source == null) {
            throw new InvalidRequestException(
                    "the rows of a query or a join have no version: order the records newest first in the query of the source");
        }
        if (order.stream().anyMatch(QueryRequest.OrderBy::isNewest)) {
            throw new InvalidRequestException("a query is ordered newest first once");
        }
        order = with(order, by);
        return this;
    }

    /**
     * Returns the rows nearest to a place, by (distance, primary key), as many as {@link #limit}
     * says, which must be given, and at least 1. A rectangle is as far as its nearest place.
     * Records without a value have no distance, and are left out.
     *
     * @param field a point or a rectangle
     * @throws InvalidRequestException if a coordinate is not finite
     */
    public Query near(String field, double x, double y) {
        if (near != null) {
            throw new InvalidRequestException("a query is near one place");
        }
        near = new QueryRequest.Near(Given.notNull(field, "the field of near"), x, y);
        return this;
    }

    /** Reads {@code f=x,y} for {@link #near(String, double, double)}. */
    public Query near(String text) {
        String[] parts = Predicates.split("near", text, "f=x,y");
        double[] place = Predicates.numbers("near", parts[1], 2, "f=x,y");
        return Predicates.named("near", text, () -> near(parts[0], place[0], place[1]));
    }

    /** Returns at most {@code rows} rows, 0 or more. */
    public Query limit(long rows) {
        if (rows < 0) {
            throw new InvalidRequestException("limit %d is below 0".formatted(rows));
        }
        // so many there never are, and it is a limit
        limit = Math.min(rows, QueryRequest.NO_LIMIT - 1);
        return this;
    }

    /** Leaves out the first rows, 0 or more; {@link #limit} counts those behind them. */
    public Query offset(long rowCount) {
        if (rowCount < 0) {
            throw new InvalidRequestException("offset %d is below 0".formatted(rowCount));
        }
        // so many there never are
        offset = Math.min(rowCount, QueryRequest.NO_LIMIT - 1);
        return this;
    }

    /**
     * Gives rows that are equal in all fields once; they have one simple value in each. Order,
     * limit and offset come after that, and are of the rows: a field that is ordered by must be
     * selected.
     */
    public Query distinct() {
        distinct = true;
        return this;
    }

    /** Reads the primary index even if another index looks cheaper. */
    public Query usingScan() {
        access = QueryRequest.SCAN;
        return this;
    }

    /**
     * Searches this index even if another access path looks cheaper; it must fit the predicates.
     *
     * @param index its name; or those of several with {@code " or "} between them, as {@link
     *     Explanation} has them, where each term of a condition with {@code or} is read by one of
     *     them
     */
    public Query usingIndex(String index) {
        checkHasIndexes();
        access = Given.notNull(index, "the name of an index");
        return this;
    }

    /**
     * Searches these indexes, at least two, and reads what they have in common, even if another
     * access path looks cheaper; each must fit the predicates.
     */
    public Query usingIndexes(String... indexes) {
        for (String index : Given.notNull(indexes, "the list of indexes")) {
            Given.notNull(index, "the name of an index");
        }
        checkHasIndexes();
        access = String.join(QueryRequest.AND, indexes);
        return this;
    }

    /** Sets the limits of the query; otherwise {@link RunOptions#defaults()}. */
    @Override
    public Query with(RunOptions newOptions) {
        set(Given.notNull(newOptions, "the options of a query"));
        return this;
    }

    /** What the rows have: the fields of records, of groups, or what was selected. */
    @Override
    public RecordType type() {
        if (distinct) {
            return ofDistinct().type();
        }
        Source of = source;
        return of == null ? Plan.rowType(request(), inputType()) : Plan.rowType(request(), of);
    }

    /** Plans and starts the query; close the result. */
    @Override
    public QueryResult run() {
        Source of = source;
        if (of == null || distinct) {
            return super.run();
        }
        QueryRequest request = request();
        RunOptions given = optionsOf(of);
        return QueryResult.start(
                of, view, moment -> skipped(Plan.of(request, moment, given), given));
    }

    /** Of one run. */
    private RunOptions optionsOf(Source of) {
        return ownOptions().of(of.means());
    }

    @Override
    @Nullable
    QueryMeans means() {
        return source == null ? super.means() : source.means();
    }

    /**
     * Checks the query once, to run it later with values for the parameters of its predicates
     * ({@link Predicates#parameter}). A query without parameters runs as it is. Later changes of
     * this query do not affect the prepared one.
     *
     * @throws InvalidRequestException for every mistake that shows without the values, and if it is
     *     a query over rows, or of distinct rows
     */
    public PreparedQuery prepare() {
        Source of = source;
        if (of == null || distinct) {
            throw new InvalidRequestException(
                    "a query over rows can't be prepared: prepare the query that the rows are of");
        }
        return new PreparedQuery(of, view, PreparedPlan.of(request(), of), offset, ownOptions());
    }

    /** Plans the query without running it. */
    @Override
    public Explanation explain() {
        Source of = source;
        if (of == null || distinct) {
            return super.explain();
        }
        QueryRequest request = request();
        RunOptions given = optionsOf(of);
        return QueryResult.explain(
                of, view, moment -> skipped(Plan.of(request, moment, given), given));
    }

    @Override
    ResultPlan plan(Moments moments, RunOptions given) {
        if (distinct) {
            return ofDistinct().plan(moments, given);
        }
        Source of = source;
        if (of == null) {
            return skipped(Plan.over(planOf(input(), moments, given), request(), given), given);
        }
        ReadView moment = view == null ? moments.of(of) : moments.given(view);
        return skipped(Plan.of(request(), moment, given), given);
    }

    private ResultPlan skipped(Plan plan, RunOptions given) {
        return SkippedPlan.of(plan, offset, given);
    }

    /** The distinct rows of this query without order and limit, and a query over them for these. */
    private Relation ofDistinct() {
        if (near != null) {
            throw new InvalidRequestException(
                    "distinct does not go with near: ask for the distinct rows of the nearest, Query.on(nearest).distinct()");
        }
        if (order.stream().anyMatch(QueryRequest.OrderBy::isNewest)) {
            throw new InvalidRequestException(
                    "distinct rows have no version: only records are ordered newest first");
        }
        Query all = new Query(source, view, rows);
        all.predicates = predicates;
        all.where = where;
        all.select = select;
        all.groupBy = groupBy;
        all.cells = cells;
        all.aggregates = aggregates;
        all.count = count;
        all.access = access;
        SetOperation distinctRows = SetOperation.union(all);
        if (order.isEmpty() && limit == QueryRequest.NO_LIMIT && offset == 0) {
            return distinctRows;
        }
        Query ordered = Query.on(distinctRows);
        ordered.order = order;
        ordered.limit = limit;
        ordered.offset = offset;
        return ordered;
    }

    @Override
    List<Relation> inputs() {
        if (distinct) {
            return List.of(ofDistinct());
        }
        return rows == null ? List.of() : List.of(rows);
    }

    @Override
    boolean keepsRows() {
        return !distinct
                && (!order.isEmpty()
                        || near != null
                        || !groupBy.isEmpty()
                        || cells != null
                        || !aggregates.isEmpty());
    }

    private Relation input() {
        return Objects.requireNonNull(rows, "it is of a source");
    }

    /** The type of what it reads. */
    private RecordType inputType() {
        Source of = source;
        return of == null ? input().type() : of.type();
    }

    private void checkHasIndexes() {
        if (source == null) {
            throw new InvalidRequestException(
                    "the rows of a query or a join have no index: name it in the query of the source");
        }
    }

    /** A list with one more: most have one at most, and an immutable one takes little room. */
    private static <T> List<T> with(List<T> list, T one) {
        if (list.isEmpty()) {
            return List.of(one);
        }
        List<T> more = new ArrayList<>(list.size() + 1);
        more.addAll(list);
        more.add(one);
        return more;
    }

    private QueryRequest request() {
        return new QueryRequest(
                predicates,
                where,
                select,
                count,
                groupBy,
                cells,
                aggregates,
                order,
                near,
                limitBeforeOffset(),
                access);
    }

    /** Rows that are wanted before the first ones are left out. */
    private long limitBeforeOffset() {
        return limit == 0 || limit == QueryRequest.NO_LIMIT
                ? limit
                : Math.min(limit, QueryRequest.NO_LIMIT - 1 - offset) + offset;
    }
}
