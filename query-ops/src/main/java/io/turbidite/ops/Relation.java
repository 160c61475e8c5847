package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * What has rows of a known type: a {@link Query}, a {@link Join}, a {@link JobQuery}, a
 * {@link SetOperation}, an {@link Unnest}, {@link Values}. One is the input of another:
 * {@link Query#on(Relation)} is a query over rows, and the sides of a join are relations.
 *
 * <pre>{@code
 * Relation late = Query.on(flights).groupBy("dest").aggregate(Aggregate.avg("delay").as("late"));
 * try (QueryResult rows = Query.on(late).where("late > 30").orderBy("late", Order.DESC).run()) {
 *     rows.forEachJson(System.out);
 * }
 * }</pre>
 *
 * <p>All parts of a tree that read one source show the same moment, but for queries of {@link
 * Query#on(io.turbidite.core.scan.ReadView) views}. Parts without {@link RunOptions} of their own
 * run with those of the relation that they are the input of, and share its memory in equal parts. A
 * result holds everything below it, and releases it when it ends or is closed.
 *
 * <p><em>Confined to one thread.</em>
 */
public abstract sealed class Relation
        permits Query, Join, JobQuery, SetOperation, Unnest, Values, Window {
    private @Nullable RunOptions options;

    Relation() {}

    /**
     * The type of the rows, known before they are. Whole records may have more fields than it
     * declares.
     *
     * @throws InvalidRequestException for every mistake that shows without running
     */
    public abstract RecordType type();

    /**
     * Sets the limits of this and of its inputs, where these have none of their own.
     *
     * @return this
     */
    public abstract Relation with(RunOptions newOptions);

    /** Plans and starts it; close the result. */
    public QueryResult run() {
        Moments moments = new Moments();
        try {
            return QueryResult.start(moments, planned(moments));
        } catch (RuntimeException | Error e) {
            moments.closing().runAfter(e);
            throw e;
        }
    }

    /** Plans it without running it. */
    public Explanation explain() {
        Moments moments = new Moments();
        Explanation explanation;
        try {
            ResultPlan plan = planned(moments);
            explanation = QueryResult.explanation(moments.names(), plan, false);
        } catch (RuntimeException | Error e) {
            moments.closing().runAfter(e);
            throw e;
        }
        moments.closing().run();
        return explanation;
    }

    private ResultPlan planned(Moments moments) {
        return plan(moments, shared(ownOptions().of(means())));
    }

    /** What the first source of the tree has for queries; null: none has anything. */
    @Nullable
    QueryMeans means() {
        for (Relation input : inputs()) {
            QueryMeans means = input.means();
            if (means != null) {
                return means;
            }
        }
        return null;
    }

    /**
     * Plans it as a part of a tree.
     *
     * @param moments the views that the tree reads
     * @param given what it may use
     */
    abstract ResultPlan plan(Moments moments, RunOptions given);

    /** What it reads, without what that reads. */
    abstract List<Relation> inputs();

    /** Whether it keeps rows: only such parts share the memory. */
    abstract boolean keepsRows();

    /** Sets the options of its own. */
    final void set(RunOptions newOptions) {
        options = newOptions;
    }

    /** Its own options, or the defaults. */
    final RunOptions ownOptions() {
        RunOptions own = options;
        return own == null ? RunOptions.defaults() : own;
    }

    /**
     * Plans an input.
     *
     * @param given for each part of the tree that has no options of its own
     */
    static ResultPlan planOf(Relation input, Moments moments, RunOptions given) {
        RunOptions own = input.options;
        return input.plan(moments, own == null ? given : input.shared(own.within(given)));
    }

    /** What is left for each part of what all of them may use together. */
    private RunOptions shared(RunOptions given) {
        int parts = keepingParts();
        if (parts <= 1) {
            return given;
        }
        return given.withMemoryBytesMax(
                Math.max(RunOptions.MEMORY_BYTES_MIN, given.memoryBytesMax() / parts));
    }

    /** How many parts keep rows within one memory. */
    private int keepingParts() {
        int count = keepsRows() ? 1 : 0;
        for (Relation input : inputs()) {
            if (input.options == null) {
                count += input.keepingParts();
            }
        }
        return count;
    }
}
