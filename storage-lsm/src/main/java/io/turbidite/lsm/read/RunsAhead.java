package io.turbidite.lsm.read;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.lsm.entry.EntriesAhead;
import io.turbidite.lsm.entry.EntryCursor;

import org.jspecify.annotations.Nullable;

/**
 * How a scan of records goes ahead in a page: as far as layers, snapshot, bitmaps and the end of
 * the range of keys let it, and the run has room. <em>Confined to one thread.</em>
 */
final class RunsAhead {
    /** After looks that showed nothing, seven moves do not look ahead at most; the eighth does. */
    private static final int INTERVAL_MAX = 8;

    private final EntriesAhead ahead = new EntriesAhead();
    private final boolean isBounded;

    /** The first eight bytes of the range's end, padded with zeros, and those behind these. */
    private final long highPrefix;

    private final long highSecond;

    /** Which move from now on looks ahead again, and how many looks in a row showed nothing. */
    private int untilLook;

    private int misses;

    /**
     * @param high the end of the range; null if it has none
     */
    RunsAhead(@Nullable Slice high) {
        isBounded = high != null;
        highPrefix = high == null ? 0 : word(high, 0);
        highSecond = high == null ? 0 : word(high, Long.BYTES);
    }

    /** Eight bytes of a key, padded with zeros. */
    private static long word(Slice key, int from) {
        return Bytes.prefix(key.segment(), key.offset() + from, key.length() - from);
    }

    /**
     * Adds what lies behind the entry that a cursor stands on, in the same page, to a run that has
     * that entry alone, and moves the cursor to the last of them.
     *
     * @return how many; the cursor has not moved if none
     */
    int extend(RecordRun run, EntryCursor cursor) {
        if (--untilLook > 0) {
            return 0;
        }
        int added = 0;
        boolean mayBeMore = !cursor.isInMemory();
        while (mayBeMore && run.count() < RecordRun.RECORDS_MAX) {
            cursor.showAhead(ahead);
            if (isBounded) {
                ahead.cutFrom(highPrefix, highSecond);
            }
            int entries = Math.min(ahead.count(), RecordRun.RECORDS_MAX - run.count());
            mayBeMore = entries > 0 && ahead.isWhole();
            if (entries > 0) {
                ahead.addTo(run, entries);
                cursor.skip(entries);
                added += entries;
            }
        }
        // where streams alternate, or keys share their first bytes, it would look in vain
        misses = added > 0 ? 0 : misses + 1;
        untilLook = Math.min(INTERVAL_MAX, misses);
        return added;
    }
}
