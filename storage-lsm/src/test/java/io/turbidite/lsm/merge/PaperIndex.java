package io.turbidite.lsm.merge;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/** An index on paper: flushes come, and whatever its policy chooses is merged at once. */
final class PaperIndex {
    private final MergePolicy policy;
    private final List<ComponentSize> oldestFirst = new ArrayList<>();
    private long flushCount;
    private long flushedBytes;
    private long writtenBytes;
    private int componentsMax;

    PaperIndex(MergePolicy policy) {
        this.policy = policy;
    }

    PaperIndex flush(long count, LongSupplier flushBytes) {
        for (long i = 0; i < count; i++) {
            long bytes = flushBytes.getAsLong();
            flushCount++;
            oldestFirst.add(new ComponentSize(bytes, flushCount, flushCount, 0, false));
            flushedBytes += bytes;
            writtenBytes += bytes;
            int componentsBefore = oldestFirst.size();
            Optional<MergeRange> choice = policy.choose(newestFirst());
            while (choice.isPresent()) {
                merge(choice.get());
                choice = policy.choose(newestFirst());
            }
            assert oldestFirst.size() <= componentsBefore;
            componentsMax = Math.max(componentsMax, oldestFirst.size());
        }
        return this;
    }

    private void merge(MergeRange range) {
        List<ComponentSize> inputs =
                newestFirst().subList(range.firstIndex(), range.lastIndex() + 1);
        ComponentSize merged = merged(inputs);
        writtenBytes += merged.bytes();
        inputs.clear();
        oldestFirst.add(oldestFirst.size() - range.firstIndex(), merged);
    }

    /** What inputs become; fails if they aren't neighbours, or one is being merged. */
    static ComponentSize merged(List<ComponentSize> newestFirst) {
        long bytes = 0;
        int generation = 0;
        long below = newestFirst.getFirst().maxTimestamp() + 1;
        for (ComponentSize input : newestFirst) {
            if (input.isMerging() || input.maxTimestamp() != below - 1) {
                throw new AssertionError(input + " in a merge of " + newestFirst);
            }
            bytes += input.bytes();
            generation = Math.max(generation, input.generation());
            below = input.minTimestamp();
        }
        return new ComponentSize(
                bytes, below, newestFirst.getFirst().maxTimestamp(), generation + 1, false);
    }

    List<ComponentSize> newestFirst() {
        return oldestFirst.reversed();
    }

    int componentCount() {
        return oldestFirst.size();
    }

    /** The most components after any flush and its merges. */
    int componentsMax() {
        return componentsMax;
    }

    /** Write amplification: the flush counts as one. */
    double writesPerByte() {
        return (double) writtenBytes / flushedBytes;
    }

    int generationMax() {
        return oldestFirst.stream().mapToInt(ComponentSize::generation).max().orElse(0);
    }
}
