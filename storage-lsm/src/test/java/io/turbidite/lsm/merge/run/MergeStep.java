package io.turbidite.lsm.merge.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.lsm.merge.MergeRange;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.strategy.StrategyHooks;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/** Merges the components that a test names, under a policy that would leave them alone. */
public final class MergeStep implements AutoCloseable {
    private final Merge merge;

    private MergeStep(Merge merge) {
        this.merge = merge;
    }

    /** Starts the merge of neighbours in all trees of a partition; 0 is the newest component. */
    public static MergeStep start(Partition partition, int first, int last) {
        Version pinned = partition.pin();
        try {
            @Nullable
            Merge merge = Merge.start(
                    partition,
                    pinned,
                    new MergePlan(pinned.schema().treeIds(), new MergeRange(first, last)),
                    StrategyHooks::new);
            return new MergeStep(Objects.requireNonNull(merge));
        } finally {
            pinned.unpin();
        }
    }

    /** Starts the merge and ends it. */
    public static void run(Partition partition, int first, int last) {
        try (MergeStep step = start(partition, first, last)) {
            step.finish();
        }
    }

    /** Merges some more; whether that was all. */
    public boolean advance(long bytes) {
        return merge.advance(bytes, 0);
    }

    public void finish() {
        assertThat(merge.advance(Long.MAX_VALUE, 0)).isTrue();
    }

    @Override
    public void close() {
        merge.close();
    }
}
