package io.turbidite.hashlog.chain;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.Properties;
import io.turbidite.hashlog.psf.PropertyMode;
import io.turbidite.hashlog.table.HashTable;

import java.lang.foreign.MemorySegment;

/**
 * Writes a record into space that was allocated for it and makes it visible in all its chains.
 *
 * <p><em>Confined to one session.</em> {@link #plan} says how much space; {@link #write} fills it,
 * in this order: key pointers, payload, region, the invisible header word; then each chain; then
 * the visible word (release). So whoever meets the record through a chain finds all of it but
 * perhaps the visible bit.
 */
public final class LogRecordWriter {
    private static final int WORD_BYTES = KeyPointer.WORD_BYTES;

    /** Of the processor's cache. */
    private static final long LINE_BYTES = 64;

    /** What is loaded ahead must still be in the cache when it is written. */
    private static final long SPACE_BYTES_MAX = 32 << 10;

    private final HybridLog log;
    private final MemorySegment memory;
    private final HashTable table;
    private final ChainInsertion insertion;
    private ChainHeads heads = ChainHeads.ONE;
    private long word;
    private int wordCount;

    /** What prefetching loads add up to: a use of them that the compiler must keep. */
    private long touched;

    /** Writes into that log, with that table. */
    public LogRecordWriter(HybridLog log, HashTable table) {
        this.log = log;
        this.memory = log.memory();
        this.table = table;
        this.insertion = new ChainInsertion(log, table);
    }

    /** Spreads what is written from now on over these chains. */
    public void follow(ChainHeads now) {
        heads = now;
    }

    /**
     * Starts loading the buckets that a record with these properties will need: their misses
     * overlap with one another, and with those of other records that are touched before the first
     * is written.
     */
    public void touch(Properties properties) {
        int count = properties.count();
        for (int i = 0; i < count; i++) {
            touched += table.touch(properties.hash(i));
        }
    }

    /**
     * Starts loading the space from the tail on, where the next {@code byteCount} bytes will be
     * written: a swing of a chain waits for all stores before it, and so for their misses.
     */
    public void touchSpace(long byteCount) {
        long from = log.tail() & -LINE_BYTES;
        long to = from + Math.min(byteCount, SPACE_BYTES_MAX);
        for (long at = from; at < to; at += LINE_BYTES) {
            touched += memory.get(Bytes.I64, log.place(at));
        }
    }

    /**
     * Lays out a record of {@code payloadBytes} with these properties.
     *
     * @return its bytes in the log; 0 if it exceeds what a record's header can say
     */
    public long plan(int payloadBytes, Properties properties) {
        int count = properties.count();
        wordCount = 0;
        for (int i = 0; i < count; i++) {
            if (!isShort(properties, i)) {
                wordCount++;
            }
        }
        long regionBytes = (long) WORD_BYTES * wordCount + properties.regionBytes();
        if (payloadBytes > RecordHeader.PAYLOAD_BYTES_MAX
                || count > RecordHeader.KEY_POINTER_COUNT_MAX
                || regionBytes > RecordHeader.REGION_BYTES_MAX) {
            return 0;
        }
        word = RecordHeader.of(payloadBytes, count, (int) regionBytes);
        return RecordHeader.recordBytes(word);
    }

    /** Writes the planned record to {@code address}, inserts it, and makes it visible. */
    public void write(long address, MemorySegment source, long offset, Properties properties) {
        long place = log.place(address);
        boolean copied = false;
        try {
            fill(place, source, offset, properties);
            copied = true;
        } finally {
            if (!copied) { // the caller's segment is closed, or shorter than it said
                int byteCount = (int) RecordHeader.recordBytes(word);
                RecordHeader.storeRelease(memory, place, RecordHeader.filler(byteCount));
            }
        }
        int count = properties.count();
        if (count > 0) {
            RecordHeader.storeRelease(memory, place, word);
            long pointer = address + RecordHeader.BYTES;
            for (int i = 0; i < count; i++) {
                long hash = heads.hash(properties.psfId(i), properties.hash(i), pointer);
                insertion.insert(hash, pointer);
                pointer += KeyPointer.LINK_BYTES;
            }
        }
        RecordHeader.storeRelease(memory, place, word | RecordHeader.VISIBLE);
    }

    /** Whether a key pointer holds all of a property: it needs no word of the region. */
    private static boolean isShort(Properties properties, int i) {
        return switch (properties.mode(i)) {
            case INLINE -> KeyPointer.fitsInline(properties.inlineValue(i));
            case PAYLOAD -> KeyPointer.isNear(properties.offset(i), properties.length(i));
            // as far behind the words as it can be: their number isn't known yet when this is asked
            // first
            case REGION ->
                KeyPointer.isNear(
                        properties.offset(i) + (long) WORD_BYTES * properties.count(),
                        properties.length(i));
        };
    }

    private void fill(long place, MemorySegment source, long offset, Properties properties) {
        int payloadBytes = RecordHeader.payloadBytes(word);
        long payload = place + RecordHeader.payloadOffset(word);
        long region = place + RecordHeader.regionOffset(word);
        long end = place + RecordHeader.recordBytes(word);
        // padding, in each case: what is written over it leaves the rest zero
        if ((properties.count() & 1) != 0) {
            memory.set(Bytes.I64, region - WORD_BYTES, 0L);
        }
        if ((payloadBytes & (WORD_BYTES - 1)) != 0) {
            memory.set(Bytes.I64, end - WORD_BYTES, 0L);
        }
        int regionBytes = properties.regionBytes();
        if (regionBytes > 0) {
            memory.set(Bytes.I64, payload - WORD_BYTES, 0L);
            long bytes = region + (long) WORD_BYTES * wordCount;
            MemorySegment.copy(properties.region(), 0, memory, bytes, regionBytes);
        }
        writeKeyPointers(place, region, properties);
        MemorySegment.copy(source, offset, memory, payload, payloadBytes);
    }

    private void writeKeyPointers(long place, long region, Properties properties) {
        long links = place + RecordHeader.BYTES;
        long values = place + RecordHeader.valuesOffset(word);
        int count = properties.count();
        int words = 0;
        for (int i = 0; i < count; i++) {
            int mode = modeOf(properties.mode(i));
            long what = whatOf(properties, i);
            if (!isShort(properties, i)) {
                memory.set(Bytes.I64, region + (long) WORD_BYTES * words, what);
                what = words++;
                mode = longer(mode);
            }
            long value = KeyPointer.value(properties.psfId(i), what);
            memory.set(RecordHeader.WORD, links, KeyPointer.link(i, mode, value));
            memory.set(Bytes.I32, values, (int) value);
            links += KeyPointer.LINK_BYTES;
            values += Integer.BYTES;
        }
        assert words == wordCount : words + " of " + wordCount;
    }

    /** The integer, or where the bytes are: as the key pointer has it, or a word of the region. */
    private long whatOf(Properties properties, int i) {
        if (properties.mode(i) == PropertyMode.INLINE) {
            return properties.inlineValue(i);
        }
        int before = properties.mode(i) == PropertyMode.REGION ? WORD_BYTES * wordCount : 0;
        int offset = before + properties.offset(i);
        int length = properties.length(i);
        return isShort(properties, i)
                ? KeyPointer.near(offset, length)
                : KeyPointer.far(offset, length);
    }

    private static int modeOf(PropertyMode mode) {
        return switch (mode) {
            case INLINE -> KeyPointer.INLINE;
            case PAYLOAD -> KeyPointer.PAYLOAD;
            case REGION -> KeyPointer.REGION;
        };
    }

    /** The mode of the same with a word of the region. */
    private static int longer(int mode) {
        return switch (mode) {
            case KeyPointer.INLINE -> KeyPointer.WIDE;
            case KeyPointer.PAYLOAD -> KeyPointer.FAR_PAYLOAD;
            default -> KeyPointer.FAR_REGION;
        };
    }

    /** Insertions that found a newer record in front of them. */
    public long hardCount() {
        return insertion.hardCount();
    }

    /** Keeps the prefetching loads alive. */
    long touched() {
        return touched;
    }
}
