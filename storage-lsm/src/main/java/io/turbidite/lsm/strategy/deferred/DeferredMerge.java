package io.turbidite.lsm.strategy.deferred;

import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.AntimatterJoin;
import io.turbidite.lsm.merge.Discards;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.MergeHook;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.version.ComponentHandle;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A correlated merge of a dataset with deferred secondaries (DEFER18 §4; design §4 rule 8): what
 * the primary's merge finds superseded is sorted, and joined into the merge of the same range of
 * each of them.
 *
 * <p>The obsolete entry lies in that range: its ID is that of the record's version, which the
 * primary's merge has just read. So the anti-matter meets it here or nowhere, and none is ever
 * written. All trees of a merge are installed together, so a crash loses either both, the old
 * record and what was to be said of it, or neither.
 *
 * <p><em>Confined to one thread at a time,</em> as its merge is.
 */
public final class DeferredMerge implements AutoCloseable {
    private final DeferredAntimatter antimatter;
    private final DeferredMeter meter;

    /**
     * @param sortBytesMax to sort what is superseded in, for all indexes together
     */
    public DeferredMerge(StoreCore core, DatasetSchema schema, long sortBytesMax) {
        this.antimatter = new DeferredAntimatter(schema, core.sortStorage(), sortBytesMax);
        this.meter = DeferredMeter.of(core.meters());
    }

    /** What the merge of the primary adds. */
    public MergeHook primary() {
        return new MergeHook() {
            @Override
            public Discards discards() {
                return antimatter;
            }
        };
    }

    /**
     * What the merge of a deferred secondary adds.
     *
     * @param inputs the components that are merged
     */
    public MergeHook secondary(int indexId, List<ComponentHandle> inputs) {
        return new Secondary(indexId, inputs);
    }

    private final class Secondary implements MergeHook {
        private final int indexId;
        private final List<ComponentHandle> inputs;
        private @Nullable AntimatterJoin join;
        private long horizon;

        Secondary(int indexId, List<ComponentHandle> inputs) {
            this.indexId = indexId;
            this.inputs = inputs;
        }

        @Override
        public EntryStream filter(EntryStream kept, VersionRetention retention) {
            AntimatterJoin joined = AntimatterJoin.of(kept, antimatter.sorted(indexId), retention);
            join = joined;
            horizon = retention.horizon();
            return joined;
        }

        /**
         * Up to the horizon no entry that is left has a successor in the range: the primary's merge
         * has told of all. So readers need not look for one there.
         */
        @Override
        public ComponentFiles.Repaired repaired() {
            long before = Long.MAX_VALUE;
            long maxTimestamp = 0;
            for (ComponentHandle input : inputs) {
                before = Math.min(before, input.state().repairedTimestamp());
                maxTimestamp = Math.max(maxTimestamp, input.state().maxTimestamp());
            }
            return new ComponentFiles.Repaired(
                    Math.max(before, Math.min(horizon, maxTimestamp)),
                    ValidityBitmapBuilder.create(0));
        }

        @Override
        public boolean complete(long stepBytes) {
            if (join != null) {
                meter.antimatter().add(antimatter.count(indexId));
                meter.removed().add(join.removedCount());
            }
            return true;
        }
    }

    @Override
    public void close() {
        antimatter.close();
    }
}
