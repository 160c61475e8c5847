package io.turbidite.lsm.partition;

import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.maintain.DeferredAntimatter;
import io.turbidite.lsm.merge.AntimatterJoin;
import io.turbidite.lsm.merge.Discards;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.schema.DatasetSchema;

import org.jspecify.annotations.Nullable;

/**
 * A correlated merge of a dataset with deferred secondaries (DEFER18 §4; design §4 rule 8): what the
 * primary's merge finds superseded is sorted, and joined into the merge of the same range of each of them.
 *
 * <p>The obsolete entry lies in that range: its ID is that of the record's version, which the primary's merge
 * has just read. So the anti-matter meets it here or nowhere, and none is ever written. All trees of a merge
 * are installed together, so a crash loses either both, the old record and what was to be said of it, or
 * neither.
 *
 * <p><em>Confined to one thread at a time,</em> as its merge is.
 */
final class DeferredMerge implements AutoCloseable {
    private final DeferredAntimatter antimatter;
    private final EngineEvents events;

    /**
     * @param sortBytesMax to sort what is superseded in, for all indexes together
     */
    DeferredMerge(Substrate substrate, DatasetSchema schema, long sortBytesMax) {
        this.antimatter = new DeferredAntimatter(schema, substrate.sortSite(), sortBytesMax);
        this.events = substrate.events();
    }

    /** What the merge of the primary adds. */
    MergeHook primary() {
        return new MergeHook() {
            @Override
            public Discards discards() {
                return antimatter;
            }
        };
    }

    /** What the merge of a deferred secondary adds. */
    MergeHook secondary(int indexId) {
        return new Secondary(indexId);
    }

    private final class Secondary implements MergeHook {
        private final int indexId;
        private @Nullable AntimatterJoin join;

        Secondary(int indexId) {
            this.indexId = indexId;
        }

        @Override
        public EntryStream filter(EntryStream kept, VersionRetention retention) {
            AntimatterJoin joined = AntimatterJoin.of(kept, antimatter.sorted(indexId), retention);
            join = joined;
            return joined;
        }

        @Override
        public boolean complete(long stepBytes) {
            if (join != null) {
                events.deferred(antimatter.count(indexId), join.removedCount());
            }
            return true;
        }
    }

    @Override
    public void close() {
        antimatter.close();
    }
}
