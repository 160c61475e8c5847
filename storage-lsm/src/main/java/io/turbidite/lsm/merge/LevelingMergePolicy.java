package io.turbidite.lsm.merge;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Optional;

/**
 * One component a level, each level T times as large as the one above it (LUO19 §2.1): the leveling
 * of the LSM-tree's inventors, with whole components.
 *
 * <p>A component's level is the whole part of log_T of its bytes. When a component comes to lie
 * above one of its own or a lower level, the two are merged; if that lifts the result into the
 * level of the next one, that is merged too, in the same merge. So levels rise from newest to
 * oldest, and nothing is written twice on its way down.
 *
 * <p><b>Cost.</b> The sizes are the digits of the number of flushes, written with base T. Of T
 * arrivals in a level the first finds it empty and the last goes on to the next level: the level's
 * bytes are written (T-1)/2 times on average. With flushes that just fill a level's least size, at
 * n = T^L flushes exactly
 *
 * <pre>
 * writes per byte = 2 + L (T-1)/2 - 1/T                components &lt;= L = log_T(n)
 * </pre>
 *
 * @param sizeRatio T, from 2 to 1000
 */
public record LevelingMergePolicy(int sizeRatio) implements MergePolicy {
    public LevelingMergePolicy {
        Parameter.checkLevelRatio("sizeRatio", sizeRatio);
    }

    @Override
    public Optional<MergeRange> choose(List<ComponentSize> newestFirst) {
        return FreeRuns.choose(newestFirst, this::inRun);
    }

    private @Nullable MergeRange inRun(List<ComponentSize> run) {
        for (int first = 0; first + 1 < run.size(); first++) {
            long bytes = run.get(first).bytes();
            int last = first;
            while (last + 1 < run.size()
                    && Levels.levelOf(run.get(last + 1).bytes(), sizeRatio)
                            <= Levels.levelOf(bytes, sizeRatio)) {
                last++;
                bytes += run.get(last).bytes();
            }
            if (last > first) {
                return new MergeRange(first, last);
            }
        }
        return null;
    }
}
