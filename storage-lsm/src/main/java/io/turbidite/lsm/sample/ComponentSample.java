package io.turbidite.lsm.sample;

import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The sample of one component, read and checked. <em>Immutable.</em> Its memory is the garbage
 * collector's.
 */
public final class ComponentSample {
    private final MemorySegment bytes;
    private final long bound;
    private final int[] offsets;
    private final long[] hashes;

    private ComponentSample(MemorySegment bytes, long bound, int[] offsets, long[] hashes) {
        this.bytes = bytes;
        this.bound = bound;
        this.offsets = offsets;
        this.hashes = hashes;
    }

    /**
     * Copies a sample.
     *
     * @param payload as {@link #problem} has found it right
     */
    public static ComponentSample of(MemorySegment payload) {
        long bound = payload.get(Bytes.I64, SampleFormat.BOUND_OFFSET);
        return copy(payload, SampleFormat.HEAD_BYTES, bound);
    }

    /** The part of it that a sample with a lower bound has. */
    public ComponentSample narrowed(long lower) {
        return Long.compareUnsigned(lower, bound) >= 0 ? this : copy(bytes, 0, lower);
    }

    private static ComponentSample copy(MemorySegment source, int from, long bound) {
        int size = 0;
        int count = 0;
        Slice key = new Slice();
        for (int at = from; at < source.byteSize(); at += entryBytes(source, at)) {
            if (SampleFormat.isIn(mixedHash(source, at, key), bound)) {
                size += entryBytes(source, at);
                count++;
            }
        }
        MemorySegment copy =
                Arena.ofAuto().allocate(Math.max(1, size), Long.BYTES).asSlice(0, size);
        int[] offsets = new int[count];
        long[] hashes = new long[count];
        int end = 0;
        int kept = 0;
        for (int at = from; at < source.byteSize(); at += entryBytes(source, at)) {
            long mixed = mixedHash(source, at, key);
            if (SampleFormat.isIn(mixed, bound)) {
                int length = entryBytes(source, at);
                MemorySegment.copy(source, at, copy, end, length);
                hashes[kept] = mixed;
                offsets[kept++] = end;
                end += length;
            }
        }
        return new ComponentSample(copy, bound, offsets, hashes);
    }

    private static long mixedHash(MemorySegment bytes, int at, Slice key) {
        return SampleFormat.mixed(BloomFilter.hash(
                key.set(bytes, at + (long) SampleFormat.ENTRY_HEAD_BYTES, keyBytes(bytes, at))));
    }

    private static int keyBytes(MemorySegment bytes, int at) {
        return bytes.get(Bytes.I16, at + (long) SampleFormat.KEY_BYTES_OFFSET) & 0xFFFF;
    }

    private static int valueBytes(MemorySegment bytes, int at) {
        return bytes.get(Bytes.I32, at + (long) SampleFormat.VALUE_BYTES_OFFSET);
    }

    private static int entryBytes(MemorySegment bytes, int at) {
        return SampleFormat.ENTRY_HEAD_BYTES + keyBytes(bytes, at) + valueBytes(bytes, at);
    }

    /** What is wrong with a payload; null if it is what a writer would write. */
    public static @Nullable String problem(MemorySegment payload) {
        if (payload.byteSize() < SampleFormat.HEAD_BYTES
                || payload.byteSize() > SampleBuilder.PAYLOAD_BYTES_MAX) {
            return payload.byteSize() + " bytes";
        }
        long bound = payload.get(Bytes.I64, SampleFormat.BOUND_OFFSET);
        int count = payload.get(Bytes.I32, SampleFormat.COUNT_OFFSET);
        if (count < 1 || payload.get(Bytes.I32, SampleFormat.ZERO_OFFSET) != 0) {
            return count + " entries, or padding that is not 0";
        }
        long at = SampleFormat.HEAD_BYTES;
        int found = 0;
        Slice key = new Slice();
        Slice last = new Slice();
        while (at < payload.byteSize()) {
            String problem = problemOfEntry(payload, at, bound);
            if (problem != null) {
                return "entry %d: %s".formatted(found, problem);
            }
            int from = (int) at;
            key.set(payload, at + SampleFormat.ENTRY_HEAD_BYTES, keyBytes(payload, from));
            if (found > 0 && last.compareBytes(key) >= 0) {
                return "entry %d: %s comes behind %s".formatted(found, key, last);
            }
            last.set(key);
            at += entryBytes(payload, from);
            found++;
        }
        return found == count ? null : "%d entries, %d expected".formatted(found, count);
    }

    private static @Nullable String problemOfEntry(MemorySegment payload, long at, long bound) {
        long left = payload.byteSize() - at - SampleFormat.ENTRY_HEAD_BYTES;
        if (left < 0) {
            return "cut";
        }
        int flags = payload.get(Bytes.U8, at + SampleFormat.FLAGS_OFFSET);
        int zero = payload.get(Bytes.U8, at + SampleFormat.ENTRY_ZERO_OFFSET);
        int keyBytes = keyBytes(payload, (int) at);
        int valueBytes = valueBytes(payload, (int) at);
        if (flags < 0 || flags > SampleFormat.TOO_LONG || zero != 0) {
            return "flags " + flags;
        }
        if (keyBytes > Limits.KEY_BYTES_MAX
                || valueBytes < 0
                || valueBytes > (flags == 0 ? SampleFormat.VALUE_BYTES_MAX : 0)
                || keyBytes + valueBytes > left) {
            return "key of %d bytes, value of %d".formatted(keyBytes, valueBytes);
        }
        return SampleFormat.isIn(mixedHash(payload, (int) at, new Slice()), bound)
                ? null
                : "a key that is not in the sample";
    }

    /** Every key is in here whose mixed hash is not above this, unsigned. */
    public long bound() {
        return bound;
    }

    /** Entries, anti-matter included. */
    public int count() {
        return offsets.length;
    }

    /** Of all entries. */
    public long byteSize() {
        return bytes.byteSize();
    }

    /** The hash of the entry's key, by which it came into the sample. */
    public long mixedHash(int entry) {
        return hashes[entry];
    }

    /** Whether the entry is a record that is here: it is no deletion, and was not too long. */
    public boolean isRecord(int entry) {
        return flags(entry) == 0;
    }

    /** Whether the entry is a deletion. */
    public boolean isAntimatter(int entry) {
        return flags(entry) == SampleFormat.ANTIMATTER;
    }

    private int flags(int entry) {
        return bytes.get(Bytes.U8, offsets[entry] + (long) SampleFormat.FLAGS_OFFSET);
    }

    /**
     * Moves {@code target} to the record of an entry.
     *
     * @return {@code target}
     */
    public Slice value(int entry, Slice target) {
        int at = offsets[entry];
        return target.set(
                bytes,
                at + (long) SampleFormat.ENTRY_HEAD_BYTES + keyBytes(bytes, at),
                valueBytes(bytes, at));
    }
}
