package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.join.JoinKind;
import io.turbidite.ops.plan.JoinPlan;
import io.turbidite.ops.run.Cleanup;
import io.turbidite.ops.run.RunOptions;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The rows of two queries, put together where fields of both are equal.
 *
 * <pre>{@code
 * try (QueryResult rows = Join.inner(
 *                 Query.on(flights).where("dep_delay_min > 60").select("flight", "tailnum"),
 *                 Query.on(planes).select("tailnum", "year"))
 *         .on("tailnum")
 *         .run()) {
 *     rows.forEachJson(System.out);
 * }
 * }</pre>
 *
 * <p>The right side should be the smaller one: its rows are held in memory; what does not fit is
 * sorted on disk, with the left rows that it may meet ({@link RunOptions#spill}). Either side may
 * be any query: of records, groups or aggregates, with a limit of its own. The rows come in no
 * promised order, and have the declared fields of the left rows, then those of the right ones.
 *
 * <p>Two fields are equal as in conditions, but of one type, whole numbers of any width being one;
 * a null equals nothing, not even a null. Each side shows one moment; where both are of one source,
 * it is the same. Queries of {@link Query#on(ReadView) views} show the moments of these.
 *
 * <p><em>Confined to one thread.</em> Each call changes this join and returns it; it may be run
 * often.
 */
public final class Join {
    private final Query left;
    private final Query right;
    private final JoinKind kind;
    private final List<JoinPlan.Equal> on = new ArrayList<>();
    private boolean looksUp;
    private RunOptions options = RunOptions.defaults();

    private Join(Query left, Query right, JoinKind kind) {
        this.left = left;
        this.right = right;
        this.kind = kind;
    }

    /** Each pair of a left and a right row. */
    public static Join inner(Query left, Query right) {
        return new Join(left, right, JoinKind.INNER);
    }

    /** The pairs, and each left row that has no right one, with null in the right fields. */
    public static Join left(Query left, Query right) {
        return new Join(left, right, JoinKind.LEFT);
    }

    /** Each left row that has a right one, once; without fields of the right. */
    public static Join semi(Query left, Query right) {
        return new Join(left, right, JoinKind.SEMI);
    }

    /**
     * Each left row that has no right one; one with a null has none. (As {@code not exists} of SQL,
     * and not as {@code not in}.)
     */
    public static Join anti(Query left, Query right) {
        return new Join(left, right, JoinKind.ANTI);
    }

    /** These fields must be equal; further calls add further ones. */
    public Join on(String leftField, String rightField) {
        on.add(new JoinPlan.Equal(leftField, rightField));
        return this;
    }

    /** The fields of this name must be equal; rows have it once. */
    public Join on(String field) {
        return on(field, field);
    }

    /**
     * Gets the right records by their primary key, some hundred at a time, for the left rows as
     * they come: what pays where they are few beside the right records. The right side is then a
     * query of records, without order and limit, joined on all of its primary key. The rows come in
     * the order of the left ones.
     */
    public Join byLookup() {
        looksUp = true;
        return this;
    }

    /** Sets the limits of the join; those of the queries stay theirs. */
    public Join with(RunOptions newOptions) {
        options = newOptions;
        return this;
    }

    /**
     * Plans and starts the join; close the result.
     *
     * @throws InvalidRequestException if a side has no such field, two fields are not of one type,
     *     or two fields of the rows would have one name
     */
    public QueryResult run() {
        List<ReadView> views = new ArrayList<>();
        return started(views, plan -> QueryResult.start(names(), plan, List.copyOf(views)));
    }

    /** Plans the join without running it. */
    public Explanation explain() {
        List<ReadView> views = new ArrayList<>();
        Explanation explanation =
                started(views, plan -> QueryResult.explanation(names(), plan, false));
        new Cleanup().addAll(views, ReadView::close).run();
        return explanation;
    }

    private String names() {
        return left.source().name() + ", " + right.source().name();
    }

    /** Opens what it reads, to be closed by whoever takes over; if anything fails, here. */
    private <T> T started(List<ReadView> views, Function<JoinPlan, T> starter) {
        try {
            ReadView leftView = viewOf(left, views);
            boolean isOne = left.view() == null
                    && right.view() == null
                    && left.source().equals(right.source());
            ReadView rightView = isOne ? leftView : viewOf(right, views);
            return starter.apply(JoinPlan.of(
                    left.plan(leftView), right.plan(rightView), kind, on, looksUp, options));
        } catch (RuntimeException | Error e) {
            new Cleanup().addAll(views, ReadView::close).runAfter(e);
            throw e;
        }
    }

    private static ReadView viewOf(Query query, List<ReadView> opened) {
        ReadView given = query.view();
        if (given != null) {
            return given;
        }
        ReadView view = query.source().openView();
        opened.add(view);
        return view;
    }
}
