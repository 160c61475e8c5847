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
 * <p><em>Confined to one session.</em> {@link #plan} says how much space; {@link #write} fills it, in this
 * order: key pointers, payload, region, the invisible header word; then each chain; then the visible word
 * (release). So whoever meets the record through a chain finds all of it but perhaps the visible bit.
 */
public final class RecordWriter {
    private static final int WORD_BYTES = 8;

    private final HybridLog log;
    private final MemorySegment memory;
    private final HashTable table;
    private final ChainInsertion insertion;
    private ChainHeads heads = ChainHeads.ONE;
    private long word;
    private int wideOffset;

    /** What prefetching loads add up to: a use of them that the compiler must keep. */
    private long touched;

    public RecordWriter(HybridLog log, HashTable table) {
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
     * Lays out a record of {@code payloadBytes} with these properties, and starts loading the buckets that
     * it will need: their misses overlap with one another and with the copy of the payload.
     *
     * @return its bytes in the log; 0 if it exceeds what a record's header can say
     */
    public long plan(int payloadBytes, Properties properties) {
        int count = properties.count();
        int wideCount = 0;
        for (int i = 0; i < count; i++) {
            touched += table.touch(properties.hash(i));
            if (properties.mode(i) == PropertyMode.INLINE
                    && !KeyPointer.fitsInline(properties.inlineValue(i))) {
                wideCount++;
            }
        }
        wideOffset = RecordHeader.align(properties.regionBytes());
        long regionBytes = wideOffset + (long) WORD_BYTES * wideCount;
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
                pointer += KeyPointer.BYTES;
            }
        }
        RecordHeader.storeRelease(memory, place, word | RecordHeader.VISIBLE);
    }

    private void fill(long place, MemorySegment source, long offset, Properties properties) {
        int payloadBytes = RecordHeader.payloadBytes(word);
        long payload = place + RecordHeader.payloadOffset(word);
        long region = place + RecordHeader.regionOffset(word);
        writeKeyPointers(place + RecordHeader.BYTES, region, properties);
        if ((payloadBytes & (WORD_BYTES - 1)) != 0) {
            memory.set(Bytes.I64, region - WORD_BYTES, 0L); // padding; the payload comes over it
        }
        MemorySegment.copy(source, offset, memory, payload, payloadBytes);
        int regionBytes = properties.regionBytes();
        if (regionBytes > 0) {
            if ((regionBytes & (WORD_BYTES - 1)) != 0) {
                memory.set(Bytes.I64, region + RecordHeader.align(regionBytes) - WORD_BYTES, 0L);
            }
            MemorySegment.copy(properties.region(), 0, memory, region, regionBytes);
        }
    }

    private void writeKeyPointers(long first, long region, Properties properties) {
        long wide = region + wideOffset;
        int count = properties.count();
        long at = first;
        for (int i = 0; i < count; i++) {
            int psfId = properties.psfId(i);
            int mode;
            long value;
            switch (properties.mode(i)) {
                case INLINE -> {
                    long integer = properties.inlineValue(i);
                    if (KeyPointer.fitsInline(integer)) {
                        mode = KeyPointer.INLINE;
                        value = KeyPointer.inline(psfId, integer);
                    } else {
                        mode = KeyPointer.WIDE;
                        value = KeyPointer.reference(psfId, (int) (wide - region), WORD_BYTES);
                        memory.set(Bytes.I64, wide, integer);
                        wide += WORD_BYTES;
                    }
                }
                case PAYLOAD -> {
                    mode = KeyPointer.PAYLOAD;
                    value = KeyPointer.reference(psfId, properties.offset(i), properties.length(i));
                }
                case REGION -> {
                    mode = KeyPointer.REGION;
                    value = KeyPointer.reference(psfId, properties.offset(i), properties.length(i));
                }
                default -> throw new AssertionError(properties.mode(i));
            }
            memory.set(RecordHeader.WORD, at, KeyPointer.link(i, mode));
            memory.set(RecordHeader.WORD, at + KeyPointer.SECOND_WORD, value);
            at += KeyPointer.BYTES;
        }
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
