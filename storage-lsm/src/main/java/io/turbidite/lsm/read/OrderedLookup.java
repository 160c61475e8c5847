package io.turbidite.lsm.read;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.util.Arrays;

/**
 * The records of a {@link KeyLookup} in key order: a batch's are kept, each at its key's place,
 * until all are there. Nothing is sorted, since the keys are; what it costs is a copy of each
 * record.
 *
 * <p>A batch has as many keys as will fit by the mean of the records so far. So the first is a
 * small one: a batch whose records do not fit after all is begun again with at most half of its
 * keys, and what was found is found twice. One record always fits. <em>Confined to one thread.</em>
 */
public final class OrderedLookup {
    private static final int ABSENT = -1;

    /** Keys of the first batch, whose records are measured. */
    private static final int FIRST_KEYS = 64;

    /** Of the memory; the rest is for records that are longer than those before. */
    private static final double FILLED = 0.875;

    private final KeyLookup lookup;
    private final int bytesMax;
    private ByteSink records;
    private int[] offsets = new int[64];
    private int[] lengths = new int[64];
    private long[] timestamps = new long[64];
    private int count;
    private int place = -1;

    /** Whether a batch was begun of which not all records are there. */
    private boolean gathering;

    /** Of all batches that are over, and the bytes of their records. */
    private long keyCount;

    private long recordBytes;

    /** Most keys of the next batch. */
    private int countMax = FIRST_KEYS;

    /**
     * @param lookup begun by the caller
     * @param bytesMax most bytes of records kept
     */
    public OrderedLookup(KeyLookup lookup, int bytesMax) {
        this.lookup = lookup;
        this.bytesMax = bytesMax;
        this.records = sink(Math.min(bytesMax, 64 << 10));
    }

    private ByteSink sink(int bytes) {
        return new ByteSink(bytes, Math.max(bytesMax, Limits.RECORD_BYTES_MAX));
    }

    /** Gets the records of the next batch; false if there are no more keys. */
    public boolean nextBatch() {
        count = 0;
        place = -1;
        makeRoom();
        if (gathering) {
            lookup.repeatBatch(countMax); // it threw
        } else if (!lookup.nextBatch(countMax)) {
            return false;
        }
        gathering = true;
        while (!gather()) {
            lookup.repeatBatch(countMax);
        }
        gathering = false;
        keyCount += count;
        recordBytes += records.length();
        double fitting = FILLED * bytesMax * keyCount / Math.max(1, recordBytes);
        countMax = (int) Math.clamp(fitting, 1, Integer.MAX_VALUE);
        return true;
    }

    /**
     * For the next batch, at once: a sink that doubles is filled with zeros and copied each time.
     */
    private void makeRoom() {
        if (keyCount > 0) {
            long keys = Math.min(countMax, lookup.keysLeft());
            double wanted = Math.min(bytesMax, keys / FILLED * recordBytes / keyCount);
            if (wanted > records.segment().byteSize()) {
                records = sink((int) wanted);
            }
        }
    }

    private boolean gather() {
        int keys = lookup.batchCount();
        if (lengths.length < keys) {
            offsets = new int[keys];
            lengths = new int[keys];
            timestamps = new long[keys];
        }
        Arrays.fill(lengths, 0, keys, ABSENT);
        records.clear();
        int found = 0;
        Slice record = new Slice();
        while (lookup.next()) {
            lookup.record(record);
            long bytes = (long) records.length() + record.length();
            found++;
            if (keys > 1 && bytes > bytesMax) {
                // as many as would fit if all were found and as long as these
                long fitting = (long) (FILLED * bytesMax / bytes * found);
                countMax = Math.clamp(fitting, 1, keys / 2);
                return false;
            }
            int at = lookup.index() - lookup.batchStart();
            offsets[at] = records.length();
            lengths[at] = record.length();
            timestamps[at] = lookup.timestamp();
            records.putBytes(record);
        }
        count = keys;
        return true;
    }

    /** Moves to the next record of the batch; false at its end. */
    public boolean next() {
        while (place + 1 < count) {
            place++;
            if (lengths[place] != ABSENT) {
                return true;
            }
        }
        return false;
    }

    /** The index of the key that it stands on. */
    public int index() {
        return lookup.batchStart() + place;
    }

    public long timestamp() {
        return timestamps[place];
    }

    /** Moves {@code slice} to the record; valid until the next batch. */
    public Slice record(Slice slice) {
        return slice.set(records.segment(), offsets[place], lengths[place]);
    }
}
