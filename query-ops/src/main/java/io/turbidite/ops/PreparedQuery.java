package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.plan.PreparedPlan;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.plan.SkippedPlan;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A query that is checked once and run often, with different values.
 *
 * <pre>{@code
 * PreparedQuery byTail = Query.on(flights)
 *         .where(Predicates.eq("tailnum", Predicates.parameter("tail")))
 *         .select("flight", "dest_name")
 *         .prepare();
 * try (QueryResult rows = byTail.run("N14228")) {
 *     rows.forEach(System.out::println);
 * }
 * }</pre>
 *
 * <p>Each run gives the answer that the query with these values would give at that moment. Each run
 * chooses its index, so indexes may come and go between runs. A result that reads an index
 * while it is dropped or disabled fails with an {@link InvalidRequestException}; run it again.
 *
 * <p><em>Thread-safe.</em> It holds nothing open.
 */
public final class PreparedQuery {
    private final Source source;
    private final @Nullable ReadView view;
    private final PreparedPlan plan;
    private final long offset;
    private final RunOptions options;

    /**
     * @param view what runs read; null: the source, as it is at the run
     * @param offset rows that are left out before the first
     */
    PreparedQuery(
            Source source,
            @Nullable ReadView view,
            PreparedPlan plan,
            long offset,
            RunOptions options) {
        this.offset = offset;
        this.source = source;
        this.view = view;
        this.plan = plan;
        this.options = options;
    }

    /** The same query within other limits. */
    public PreparedQuery with(RunOptions newOptions) {
        return new PreparedQuery(
                source, view, plan, offset, Given.notNull(newOptions, "the options of a query"));
    }

    /**
     * The names of the parameters, in the order in which the predicates first name them. Values
     * come in this order.
     */
    public List<String> parameters() {
        return plan.parameters();
    }

    /**
     * Runs the query with these values; close the result.
     *
     * @param values one for each of {@link #parameters}, of its field's Java class; null means the
     *     same as in {@link Predicates#eq} and {@link Predicates#range}
     * @throws InvalidRequestException if there are too many or too few values, or one does not fit
     *     its field
     */
    public QueryResult run(@Nullable Object @Nullable ... values) {
        @Nullable Object[] given = given(values);
        return QueryResult.start(source, view, moment -> bound(moment, given));
    }

    /**
     * As {@link #run}, for the moment that {@code moment} shows; the caller closes the view, after
     * the result.
     *
     * @throws InvalidRequestException also if it is a view of another source
     */
    public QueryResult runOn(ReadView moment, @Nullable Object @Nullable ... values) {
        if (!moment.source().equals(source)) {
            throw new InvalidRequestException(
                    moment.source().name().equals(source.name())
                            ? "the query was prepared for another dataset named %s than the view shows: that one was dropped, or is another store's"
                                    .formatted(source.name())
                            : "the query was prepared for %s, the view shows %s"
                                    .formatted(source.name(), moment.source().name()));
        }
        @Nullable Object[] given = given(values);
        return QueryResult.start(source, moment, same -> bound(same, given));
    }

    /** Plans the query with these values without running it. */
    public Explanation explain(@Nullable Object @Nullable ... values) {
        @Nullable Object[] given = given(values);
        return QueryResult.explain(source, view, moment -> bound(moment, given));
    }

    private ResultPlan bound(ReadView moment, @Nullable Object[] values) {
        RunOptions bound = options.of(source.means());
        return SkippedPlan.of(plan.bind(moment, bound, values), offset, bound);
    }

    /** The values as an array: Java passes a lone null as none. */
    private static @Nullable Object[] given(@Nullable Object @Nullable [] values) {
        return values == null ? new @Nullable Object[] {null} : values;
    }
}
