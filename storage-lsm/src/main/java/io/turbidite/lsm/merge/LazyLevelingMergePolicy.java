package io.turbidite.lsm.merge;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Optional;

/**
 * Leveling where most data is, tiering above it (Dayan, Idreos: Dostoevsky, SIGMOD 2018): the last
 * level has one component, so space and most searches cost as with leveling; each level above has
 * up to T-1, so data is written once a level on its way down.
 *
 * <p>A component's level is the whole part of log_T of its bytes; the last level is the oldest
 * component's. T neighbours of a level above become one component of the next; what reaches the
 * last level is merged into the oldest component. Merges that would follow one another are done as
 * one.
 *
 * <p><b>Cost.</b> With flushes that just fill a level's least size, n flushes and L = log_T(n): the
 * last level is rewritten for each T^(L-1) flushes, (T+2)/2 times a byte on average, and each level
 * between first and last is written by (T-1)/T of the bytes:
 *
 * <pre>
 * writes per byte = 1 + (T+2)/2 + (L-2)(T-1)/T - 1/T   about
 * components     &lt;= 1 + (T-1) L
 * </pre>
 *
 * @param sizeRatio T, from 2 to 1000
 */
public record LazyLevelingMergePolicy(int sizeRatio) implements MergePolicy {
    public LazyLevelingMergePolicy {
        Parameter.checkLevelRatio("sizeRatio", sizeRatio);
    }

    @Override
    public Optional<MergeRange> choose(List<ComponentSize> newestFirst) {
        int oldest = newestFirst.size() - 1;
        return oldest < 1
                ? Optional.empty()
                : FreeRuns.choose(
                        newestFirst,
                        run -> inRun(run, run.getLast().equals(newestFirst.get(oldest))));
    }

    private @Nullable MergeRange inRun(List<ComponentSize> run, boolean hasOldest) {
        int groupFirst = 0;
        int next = 0;
        boolean carries = false;
        long carriedBytes = 0;
        while (next < run.size()) {
            // a group: what is merged so far, if anything, and all behind it that is not of a
            // higher level
            long bytes = carries ? carriedBytes : run.get(next).bytes();
            int level = Levels.levelOf(bytes, sizeRatio);
            int end = carries ? next : next + 1;
            while (end < run.size() && Levels.levelOf(run.get(end).bytes(), sizeRatio) <= level) {
                bytes += run.get(end).bytes();
                end++;
            }
            int count = end - next + (carries ? 1 : 0);
            if (hasOldest && end == run.size()) {
                return count > 1 ? new MergeRange(groupFirst, end - 1) : null;
            }
            if (count >= sizeRatio) {
                carries = true;
                carriedBytes = bytes;
            } else if (carries) {
                break;
            } else {
                groupFirst = end;
            }
            next = end;
        }
        return carries ? new MergeRange(groupFirst, next - 1) : null;
    }
}
