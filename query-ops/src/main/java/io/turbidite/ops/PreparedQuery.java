package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.plan.PreparedPlan;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A question that is asked often, with other values each time: checked once, run with the values.
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
 * <p>Each run gives what the query with these values would give at that moment. Which index it searches is chosen in
 * each run, so indexes may come and go in between.
 *
 * <p><em>Thread-safe.</em> It holds nothing open.
 */
public final class PreparedQuery {
    private final Source source;
    private final @Nullable ReadView view;
    private final PreparedPlan plan;
    private final RunOptions options;

    /**
     * @param view what runs ask; null: the source, as it is then
     */
    PreparedQuery(Source source, @Nullable ReadView view, PreparedPlan plan, RunOptions options) {
        this.source = source;
        this.view = view;
        this.plan = plan;
        this.options = options;
    }

    /** Names of the parameters, in the order in which the predicates first name them: that of the values. */
    public List<String> parameters() {
        return plan.parameters();
    }

    /**
     * Runs the query with these values; close the result.
     *
     * @param values one for each of {@link #parameters}, of its field's Java class; null is what it is in {@link
     *     Predicates#eq} and {@link Predicates#range}
     * @throws InvalidRequestException if there are more or fewer, or one does not fit its field
     */
    public QueryResult run(@Nullable Object... values) {
        return QueryResult.start(source, view, moment -> plan.bind(moment, options, values));
    }

    /**
     * As {@link #run}, of the moment that {@code moment} shows; the caller closes it, after the result.
     *
     * @throws InvalidRequestException if it is a view of something else, too
     */
    public QueryResult runOn(ReadView moment, @Nullable Object... values) {
        if (!moment.source().equals(source)) {
            throw new InvalidRequestException("the query was prepared for %s, the view shows %s"
                    .formatted(source.name(), moment.source().name()));
        }
        return QueryResult.start(source, moment, same -> plan.bind(same, options, values));
    }

    /** Plans the query with these values without running it. */
    public Explanation explain(@Nullable Object... values) {
        return QueryResult.explain(source, view, moment -> plan.bind(moment, options, values));
    }
}
