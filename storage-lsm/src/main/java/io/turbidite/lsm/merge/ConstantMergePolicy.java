package io.turbidite.lsm.merge;

import java.util.List;
import java.util.Optional;

/**
 * At most k components, for the least writing: the binomial schedule (Mathieu, Staelin, Young,
 * Yousefi: Bigtable Merge Compaction, 2014; AsterixDB's constant policy since 0.9.5).
 *
 * <p>When a flush makes one too many, it is merged with its neighbour and with all behind it that
 * are of the neighbour's generation or a lower one. Nothing is merged before there are more than k.
 *
 * <p><b>Cost.</b> Generations don't fall from newest to oldest, and each merge lifts what it takes
 * by exactly one. The component at place i of k, counted from the newest, with generation g holds
 * C(g+i, i) flushes: so the oldest has generation g no earlier than after C(g+k, k) flushes, and
 * until it has generation g+1 no byte was written more than 1 + g times. At n = C(g+k, k) flushes
 * exactly
 *
 * <pre>
 * writes per byte = 1 + g k/(k+1) + g/(g+k)            g is about (k! n)^(1/k) - (k+1)/2
 * </pre>
 *
 * which is the least that any policy of k components can do, up to the last term: that one pays for
 * flushes being written by themselves first.
 *
 * @param componentCountMax k, at least 1
 */
public record ConstantMergePolicy(int componentCountMax) implements MergePolicy {
    public ConstantMergePolicy {
        Parameter.checkAtLeast("componentCountMax", componentCountMax, 1, "");
    }

    @Override
    public int keptCount() {
        return componentCountMax;
    }

    @Override
    public Optional<MergeRange> choose(List<ComponentSize> newestFirst) {
        return newestFirst.size() > componentCountMax
                ? FreeRuns.choose(newestFirst, ConstantMergePolicy::inRun)
                : Optional.empty();
    }

    private static MergeRange inRun(List<ComponentSize> run) {
        int generation = Math.max(run.get(0).generation(), run.get(1).generation());
        int last = 1;
        while (last + 1 < run.size() && run.get(last + 1).generation() <= generation) {
            last++;
        }
        return new MergeRange(0, last);
    }
}
