package io.turbidite.lsm.merge;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryHead;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ForwardingStream;
import io.turbidite.lsm.entry.KeyCopy;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * Which versions a flush or a merge must keep (D3): every version above the watermark, and the
 * newest at or below the watermark and at or below each registered snapshot. Anti-matter that would
 * be kept as the newest at or below the horizon is dropped if nothing older can lie underneath
 * (rule 4). An entry that knows its successor, which may lie elsewhere, goes if nobody reads
 * between the two (rule 5).
 *
 * <p><em>Immutable.</em> Taken once, under the lock that reads watermark and snapshots together.
 */
public final class VersionRetention {
    private final long[] cutsAscending;
    private final boolean dropsAntimatter;

    private VersionRetention(long[] cutsAscending, boolean dropsAntimatter) {
        this.cutsAscending = cutsAscending;
        this.dropsAntimatter = dropsAntimatter;
    }

    /**
     * What readers at these timestamps need.
     *
     * @param watermark the highest timestamp below which nothing is in flight
     * @param snapshots timestamps of the registered snapshots, in any order, none above the
     *     watermark
     * @param dropsAntimatter whether anti-matter may go: the input includes the oldest component,
     *     so that no older version of any key exists outside it, or readers don't count on
     *     anti-matter for those
     */
    public static VersionRetention of(long watermark, long[] snapshots, boolean dropsAntimatter) {
        long[] cuts = Arrays.copyOf(snapshots, snapshots.length + 1);
        cuts[snapshots.length] = watermark;
        Arrays.sort(cuts);
        if (cuts[cuts.length - 1] != watermark) {
            throw new IllegalArgumentException("snapshot %d is above the watermark %d"
                    .formatted(cuts[cuts.length - 1], watermark));
        }
        return new VersionRetention(cuts, dropsAntimatter);
    }

    /** The same readers, where anti-matter may go or not. */
    public VersionRetention droppingAntimatter(boolean drops) {
        return drops == dropsAntimatter ? this : new VersionRetention(cutsAscending, drops);
    }

    /** The smallest timestamp at which anybody may read. */
    public long horizon() {
        return cutsAscending[0];
    }

    /**
     * Whether nobody sees a version that was put at {@code timestamp} and replaced at
     * {@code successor}: no reader stands between the two.
     */
    public boolean isHidden(long timestamp, long successor) {
        int cut = oldestCutAtOrAbove(successor);
        return cut < cutsAscending.length && oldestCutAtOrAbove(timestamp) == cut;
    }

    /**
     * The entries of {@code versions} that must be kept, in order, each with its successor: the one
     * it knows or the next newer version of its key among {@code versions}, which need not be kept.
     * Owns {@code versions}. If two entries have the same key and timestamp, the first one counts.
     */
    public EntryStream retain(EntryStream versions) {
        return new Retained(versions, null);
    }

    /**
     * The same, and {@code discards} is told of each record that is found superseded, kept or not.
     */
    public EntryStream retain(EntryStream versions, Discards discards) {
        return new Retained(versions, new Pairs(discards));
    }

    /**
     * The index of the oldest cut that sees a version of this timestamp; the cut count if none
     * does.
     */
    private int oldestCutAtOrAbove(long timestamp) {
        int low = 0;
        int high = cutsAscending.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (cutsAscending[middle] < timestamp) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /**
     * Neighbouring versions of a key. A stream shows one at a time, so the newer one's value is
     * copied: which key has an older version is known only when it is gone.
     */
    private static final class Pairs {
        private final Discards discards;
        private final ByteSink newer = new ByteSink(1 << 10, Limits.RECORD_BYTES_MAX);
        private final Slice newerSlice = new Slice();

        Pairs(Discards discards) {
            this.discards = discards;
        }

        /**
         * {@code versions} stands on the next older version of the key of the one that was noted.
         */
        void meet(EntryStream versions, long newerTimestamp) {
            if (!versions.isAntimatter()) {
                discards.superseded(
                        versions.key(),
                        versions.timestamp(),
                        versions.value(),
                        newerTimestamp,
                        newer.asSlice(newerSlice));
            }
        }

        void note(EntryStream versions) {
            newer.clear().putBytes(versions.value());
        }
    }

    private final class Retained implements ForwardingStream {
        private final EntryStream versions;
        private final @Nullable Pairs pairs;
        private final KeyCopy key = new KeyCopy();
        private final EntryHead own = new EntryHead();
        private long newerTimestamp;
        private long successorTimestamp;

        /** Cuts from this index up already see a newer version of the key. */
        private int cutsServedFrom;

        Retained(EntryStream versions, @Nullable Pairs pairs) {
            this.versions = versions;
            this.pairs = pairs;
        }

        @Override
        public EntryStream entries() {
            return versions;
        }

        @Override
        public boolean next() {
            return next(own);
        }

        @Override
        public boolean next(EntryHead entry) {
            while (versions.next(entry)) {
                boolean isFirst = !key.matches(entry);
                if (isFirst) {
                    key.set(entry);
                    cutsServedFrom = cutsAscending.length;
                } else if (entry.timestamp == newerTimestamp) {
                    continue;
                }
                if (pairs != null) {
                    if (!isFirst) {
                        pairs.meet(versions, newerTimestamp);
                    }
                    pairs.note(versions);
                }
                long marked = entry.successor;
                successorTimestamp = isFirst ? marked : Math.min(marked, newerTimestamp);
                newerTimestamp = entry.timestamp;
                if (mustKeep(entry, marked)) {
                    entry.successor = successorTimestamp;
                    return true;
                }
            }
            return false;
        }

        private boolean mustKeep(EntryHead entry, long marked) {
            if (marked <= entry.timestamp) {
                return false;
            }
            int cut = oldestCutAtOrAbove(entry.timestamp);
            if (cut == cutsAscending.length) {
                return true;
            }
            if (cut >= cutsServedFrom || cutsAscending[cut] >= marked) {
                return false;
            }
            cutsServedFrom = cut;
            return !(cut == 0 && dropsAntimatter && entry.antimatter);
        }

        @Override
        public long successorTimestamp() {
            return successorTimestamp;
        }
    }
}
