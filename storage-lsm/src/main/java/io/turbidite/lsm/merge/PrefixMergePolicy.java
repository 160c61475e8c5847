package io.turbidite.lsm.merge;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Optional;

/**
 * AsterixDB's prefix policy (ALS15 §3.2.4), with the ratio that was added to it later.
 *
 * <p>A component above {@code mergeableBytesMax} is left alone for ever. Among the others, oldest
 * first:
 *
 * <ol>
 *   <li>The shortest sequence that starts with this component and exceeds {@code mergeableBytesMax}
 *       in sum is merged: its result is large enough to be left alone.
 *   <li>If all younger components together don't reach that, but there are {@code toleranceCount}
 *       of them with this one, they are merged up to the newest.
 *   <li>In both cases only if this component is at most {@value #SIZE_RATIO} times what it is
 *       merged with; else the next younger one is tried. So a big component isn't rewritten for
 *       small ones.
 * </ol>
 *
 * <p><b>Cost.</b> Where nothing is to be merged, each small component but the newest
 * {@code toleranceCount} - 1 is more than r = 1.2 times as large as all younger ones together; a
 * merge makes its oldest component at least 1 + 1/r times as large, and nothing above M =
 * {@code mergeableBytesMax} is merged again. With n flushes of f bytes, k = {@code toleranceCount}:
 *
 * <pre>
 * components      &lt;= n f / M + k + log_(1+r)(M/f)
 * writes per byte &lt;= 2 + log_(1+1/r)(M/f)
 * </pre>
 *
 * <p>About: up to M the recurrence of {@link ConcurrentMergePolicy} with k as its least count, and
 * the merge that exceeds M.
 *
 * @param mergeableBytesMax size from which a component is left alone
 * @param toleranceCount how many small components may lie side by side before they are merged
 */
public record PrefixMergePolicy(long mergeableBytesMax, int toleranceCount) implements MergePolicy {
    static final double SIZE_RATIO = 1.2;

    public PrefixMergePolicy {
        Parameter.checkBytes("mergeableBytesMax", mergeableBytesMax);
        Parameter.checkMergeCount("toleranceCount", toleranceCount);
    }

    @Override
    public int keptCount() {
        return toleranceCount;
    }

    @Override
    public Optional<MergeRange> choose(List<ComponentSize> newestFirst) {
        return FreeRuns.choose(newestFirst, this::inRun);
    }

    private @Nullable MergeRange inRun(List<ComponentSize> run) {
        for (int oldest = run.size() - 1; oldest > 0; oldest--) {
            MergeRange range = startingAt(run, oldest);
            if (range != null) {
                return range;
            }
        }
        return null;
    }

    private @Nullable MergeRange startingAt(List<ComponentSize> newestFirst, int oldest) {
        long oldestBytes = newestFirst.get(oldest).bytes();
        if (oldestBytes > mergeableBytesMax) {
            return null;
        }
        long youngerBytes = 0;
        boolean balanced = false;
        for (int newest = oldest - 1; newest >= 0; newest--) {
            long bytes = newestFirst.get(newest).bytes();
            if (bytes > mergeableBytesMax) {
                return null;
            }
            youngerBytes += bytes;
            balanced = oldestBytes <= SIZE_RATIO * youngerBytes;
            if (balanced && oldestBytes + youngerBytes > mergeableBytesMax) {
                return new MergeRange(newest, oldest);
            }
        }
        return balanced && oldest + 1 >= toleranceCount ? new MergeRange(0, oldest) : null;
    }

    @Override
    public boolean isBounded() {
        return true;
    }
}
