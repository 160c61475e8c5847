package io.turbidite.lsm.merge;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ForwardingStream;
import io.turbidite.lsm.entry.KeyCopy;

/**
 * A stream of entries without those that anti-matter from elsewhere has made superfluous: what the
 * primary's merges found superseded, applied to a secondary (DEFER18 §4).
 *
 * <p>Anti-matter goes by timestamp, wherever its file lies: it removes an older entry of its key,
 * and only if no reader stands between the two. It is not shown itself. Where a reader does stand
 * between, the primary has kept both versions as well, and tells of them again in its next merge.
 *
 * <p><em>Confined to one thread.</em> Owns both streams.
 */
public final class AntimatterJoin implements ForwardingStream {
    private static final long NONE = Long.MAX_VALUE;

    private final EntryStream entries;
    private final EntryStream antimatter;
    private final VersionRetention retention;
    private boolean onAntimatter;

    /** The key of the anti-matter that {@link #successor} belongs to. */
    private final KeyCopy key = new KeyCopy();

    /** The smallest timestamp of anti-matter of {@link #key} above the entry last looked at. */
    private long successor = NONE;

    private long removedCount;

    private AntimatterJoin(
            EntryStream entries, EntryStream antimatter, VersionRetention retention) {
        this.entries = entries;
        this.antimatter = antimatter;
        this.retention = retention;
        this.onAntimatter = antimatter.next();
    }

    /**
     * Joins the two.
     *
     * @param entries by key, newest first, as all streams are
     * @param antimatter in the same order; its matter, if there is any, counts as anti-matter
     */
    public static AntimatterJoin of(
            EntryStream entries, EntryStream antimatter, VersionRetention retention) {
        return new AntimatterJoin(entries, antimatter, retention);
    }

    @Override
    public EntryStream entries() {
        return entries;
    }

    @Override
    public boolean next() {
        while (entries.next()) {
            if (entries.isAntimatter() || !isRemoved(entries.key(), entries.timestamp())) {
                return true;
            }
            removedCount++;
        }
        return false;
    }

    private boolean isRemoved(Slice entryKey, long timestamp) {
        if (successor != NONE && !key.matches(entryKey)) {
            successor = NONE;
        }
        int order = order(entryKey);
        while (order < 0 || (order == 0 && antimatter.timestamp() > timestamp)) {
            if (order == 0) {
                if (successor == NONE) {
                    key.set(entryKey);
                }
                successor = antimatter.timestamp();
            }
            onAntimatter = antimatter.next();
            order = order(entryKey);
        }
        return successor != NONE && retention.isHidden(timestamp, successor);
    }

    /** Where the anti-matter stands, seen from the entry: above 0 behind it. */
    private int order(Slice entryKey) {
        return onAntimatter ? antimatter.key().compareBytes(entryKey) : 1;
    }

    /** Entries left out so far. */
    public long removedCount() {
        return removedCount;
    }

    @Override
    public void close() {
        try {
            entries.close();
        } finally {
            antimatter.close();
        }
    }
}
