package io.turbidite.lsm.merge;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Optional;

/**
 * Tiering in bounded merges, of which several may run at a time: the rule of AsterixDB's concurrent
 * policy (its default in 0.9.8 and 0.9.9; Luo, Carey: On Performance Stability in LSM-based Storage
 * Systems, PVLDB 13(4)).
 *
 * <p>Among components that are not being merged, oldest first: a component is merged with the (up
 * to {@code mergeCountMax} - 1) younger ones before it, if these are at least {@code mergeCountMin}
 * - 1 and it is at most {@code sizeRatio} times their sum. Merges are short, as none takes more
 * than {@code mergeCountMax} components, and new ones start while a long one runs.
 *
 * <p><b>Cost.</b> As long as lists are no longer than {@code mergeCountMax}: where nothing is to be
 * merged, each component but the newest {@code mergeCountMin} - 1 is more than r =
 * {@code sizeRatio} times as large as all younger ones together, so sums grow by 1 + r. A merge
 * makes its oldest component at least 1 + 1/r times as large, and a younger one 1 + r times. With n
 * flushes:
 *
 * <pre>
 * components      &lt;= mergeCountMin + log_(1+r)(n)
 * writes per byte &lt;= 1 + log_b(n)         b = 1 + min(r, 1/r)
 * </pre>
 *
 * <p>For equal flushes the recurrence of {@link TieringMergePolicy} holds exactly, with c(j+1) the
 * first number of flushes at which r times the younger ones reach c(j) and there are
 * {@code mergeCountMin} components: about 0.6 log_2(n) for ratio 1.2. Where {@code mergeCountMax}
 * cuts merges short, a tenth more is written.
 *
 * <p>AsterixDB's {@code max-component-count}, from which on it stops flushes, is not here: writers
 * are slowed by the backlog of merges, whatever the policy.
 *
 * @param sizeRatio above 0; larger values merge more eagerly
 * @param mergeCountMin the fewest components that are worth a merge, at least 2
 * @param mergeCountMax the most that are merged at once
 */
public record ConcurrentMergePolicy(double sizeRatio, int mergeCountMin, int mergeCountMax)
        implements MergePolicy {
    public ConcurrentMergePolicy {
        Parameter.checkRatio("sizeRatio", sizeRatio);
        Parameter.checkMergeCount("mergeCountMin", mergeCountMin);
        Parameter.checkAtLeast("mergeCountMax", mergeCountMax, mergeCountMin, ", mergeCountMin");
    }

    @Override
    public Optional<MergeRange> choose(List<ComponentSize> newestFirst) {
        return FreeRuns.choose(newestFirst, this::inRun);
    }

    private @Nullable MergeRange inRun(List<ComponentSize> run) {
        for (int oldest = run.size() - 1; oldest >= mergeCountMin - 1; oldest--) {
            int newest = Math.max(0, oldest - mergeCountMax + 1);
            long youngerBytes = 0;
            for (int i = newest; i < oldest; i++) {
                youngerBytes += run.get(i).bytes();
            }
            if (run.get(oldest).bytes() <= sizeRatio * youngerBytes) {
                return new MergeRange(newest, oldest);
            }
        }
        return null;
    }
}
