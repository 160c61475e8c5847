package io.turbidite.lsm.merge;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How far an index is behind its policy: what the policy would still merge if nothing else came in,
 * found by doing all of its merges on paper. Immutable.
 *
 * @param componentCount how many components fewer there would be
 * @param bytes what those merges would read, each component as often as it is merged
 */
public record MergeDebt(int componentCount, long bytes) {
    /** No index is behind. */
    public static final MergeDebt NONE = new MergeDebt(0, 0);

    /** Both together. */
    public MergeDebt plus(MergeDebt other) {
        return new MergeDebt(componentCount + other.componentCount, bytes + other.bytes);
    }

    /**
     * The debt of one index.
     *
     * @param newestFirst without marks: what is being merged counts until the result is there
     */
    public static MergeDebt of(MergePolicy policy, List<ComponentSize> newestFirst) {
        List<ComponentSize> left = new ArrayList<>(newestFirst);
        long bytes = 0;
        Optional<MergeRange> chosen = policy.choose(left);
        // each round leaves at least one component fewer
        while (chosen.isPresent()) {
            List<ComponentSize> inputs =
                    left.subList(chosen.get().firstIndex(), chosen.get().lastIndex() + 1);
            long sum = inputs.stream().mapToLong(ComponentSize::bytes).sum();
            ComponentSize merged = new ComponentSize(
                    sum,
                    inputs.getLast().minTimestamp(),
                    inputs.getFirst().maxTimestamp(),
                    1
                            + inputs.stream()
                                    .mapToInt(ComponentSize::generation)
                                    .max()
                                    .orElseThrow(),
                    false);
            bytes += sum;
            inputs.clear();
            left.add(chosen.get().firstIndex(), merged);
            chosen = policy.choose(left);
        }
        return new MergeDebt(newestFirst.size() - left.size(), bytes);
    }
}
