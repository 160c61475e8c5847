package io.turbidite.hashlog.scan;

import io.turbidite.hashlog.chain.KeyPointer;
import io.turbidite.hashlog.chain.ReadAhead;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogShape;

/**
 * How much a chain walk fetches from disk around a key pointer (FISH19 §7.2). <em>Confined to one
 * thread.</em>
 *
 * <p>There are levels; level 0 fetches the record alone, each further one a larger window that ends
 * behind the record, since chains lead to lower addresses. A gap to the last key pointer that is
 * worth reading over (at most Phi and a record) raises the level by one, a larger one drops it to
 * 0. So a sparse property costs one small read a record, and a dense one becomes a sequential scan
 * backwards.
 */
public final class AdaptiveReadAhead implements ReadAhead {
    /**
     * Bytes of each level's window; the last is what a full scan fetches, so that it is no slower.
     */
    static final int[] LEVEL_BYTES = {0, 16 << 10, 64 << 10, 256 << 10, 1 << 20};

    /** A record's length before any was seen. */
    private static final int RECORD_BYTES_GUESS = 600;

    /** From a key pointer back to its record's start in most records: some key pointers. */
    private static final int BEFORE_BYTES = 128;

    private final DeviceProfile device;
    private long last = Long.MAX_VALUE;
    private int level;
    private double meanBytes = RECORD_BYTES_GUESS;

    /** Reads ahead as far as pays on that device. */
    public AdaptiveReadAhead(DeviceProfile device) {
        this.device = device;
    }

    @Override
    public void before(LogReader reader, long keyPointer) {
        if (reader.isInMemory(keyPointer)) {
            last = keyPointer;
            return;
        }
        level = last != Long.MAX_VALUE && last - keyPointer <= device.gapBytes() + meanBytes
                ? Math.min(level + 1, LEVEL_BYTES.length - 1)
                : 0;
        last = keyPointer;
        if (reader.holds(keyPointer, KeyPointer.LINK_BYTES)) {
            return;
        }
        LogShape shape = reader.log().shape();
        long page = shape.pageOf(keyPointer);
        long start = shape.startOf(page);
        // twice the mean: a record that is cut costs another read
        long end = Math.min(shape.startOf(page + 1), keyPointer + (long) (2 * meanBytes));
        long from = Math.min(keyPointer - BEFORE_BYTES, end - LEVEL_BYTES[level]);
        long floor = Math.max(start, Math.min(reader.log().begin(), keyPointer));
        reader.prefetch(Math.max(floor, from), end);
    }

    @Override
    public void visited(int recordBytes) {
        meanBytes += (recordBytes - meanBytes) / 16;
    }

    /** 0 to 4; what the last key pointer was read with. */
    int level() {
        return level;
    }
}
