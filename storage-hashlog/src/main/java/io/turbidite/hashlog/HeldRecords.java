package io.turbidite.hashlog;

import io.turbidite.hashlog.psf.Properties;

/**
 * Records of one batch that were evaluated and wait to be written together, so that the misses of
 * all their buckets overlap. <em>Confined to one thread.</em> Nothing of them is in the log yet.
 */
final class HeldRecords {
    /** As many misses as a processor has under way, for records of a few properties. */
    static final int COUNT_MAX = 8;

    private final Properties[] properties = new Properties[COUNT_MAX];
    private final long[] offsets = new long[COUNT_MAX];
    private final int[] byteCounts = new int[COUNT_MAX];
    private int count;

    HeldRecords() {
        for (int i = 0; i < COUNT_MAX; i++) {
            properties[i] = new Properties();
        }
    }

    int count() {
        return count;
    }

    boolean isFull() {
        return count == COUNT_MAX;
    }

    /** What the next record is evaluated into. */
    Properties next() {
        return properties[count];
    }

    /** Holds the record that {@link #next} was filled from. */
    void add(long offset, int byteCount) {
        offsets[count] = offset;
        byteCounts[count] = byteCount;
        count++;
    }

    Properties properties(int i) {
        return properties[i];
    }

    long offset(int i) {
        return offsets[i];
    }

    int byteCount(int i) {
        return byteCounts[i];
    }

    void clear() {
        count = 0;
    }
}
