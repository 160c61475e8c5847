package io.turbidite.core.bloom;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A blocked Bloom filter: every test touches one cache line (LUO19 §3.2), at the cost of about one
 * bit per key more than a plain filter.
 *
 * <p><em>Immutable; thread-safe.</em> A view of bytes that someone else owns (a mapped component's
 * memory, a builder's): it is valid as long as they are.
 *
 * <p>The upper half of the hash chooses the block, the lower half walks inside it: nine top bits of
 * {@code h * odd^i} are the i-th probe.
 */
public final class BloomFilter {
    /** 2^32 divided by the golden ratio, odd: multiplying spreads each bit upwards. */
    private static final int STEP = 0x9E3779B9;

    private final MemorySegment filter;
    private final int probes;
    private final long blockCount;

    private BloomFilter(MemorySegment filter) {
        this.filter = filter;
        this.probes = filter.get(Bytes.I16, BloomFormat.PROBES_OFFSET);
        this.blockCount = filter.get(Bytes.I64, BloomFormat.BLOCK_COUNT_OFFSET);
    }

    /**
     * The project's hash of a key: XXH3, 64 bits, no seed, of a short key's words. Without garbage.
     */
    public static long hash(Slice key) {
        return KeyHash.of(key);
    }

    /**
     * The same of a key of sixteen bytes at most.
     *
     * @param prefix its first eight bytes as {@link Bytes#prefix}
     * @param second the eight behind them, likewise
     */
    public static long hash(long prefix, long second, int keyBytes) {
        return KeyHash.of(prefix, second, keyBytes);
    }

    /**
     * A filter in memory that the garbage collector frees; for a filter that outlives its build,
     * copy the segment or write it out.
     *
     * @param expectedKeys how many keys will be added; with more, the rate is missed
     * @param falsePositiveRate share of absent keys that the filter may let through, 1e-6 to 0.5
     */
    public static Builder builder(long expectedKeys, double falsePositiveRate) {
        return builder(expectedKeys, falsePositiveRate, Arena.ofAuto());
    }

    /** A filter in memory of {@code arena}: {@link #bytesFor} bytes. */
    public static Builder builder(long expectedKeys, double falsePositiveRate, Arena arena) {
        long bytes = bytesFor(expectedKeys, falsePositiveRate);
        return new Builder(
                NativeMemory.allocate(arena, bytes, BloomFormat.BLOCK_BYTES),
                BloomSizing.forRate(falsePositiveRate).probes());
    }

    /** Bytes of the filter that {@link #builder} makes, header included. */
    public static long bytesFor(long expectedKeys, double falsePositiveRate) {
        if (expectedKeys < 0) {
            throw new IllegalArgumentException(expectedKeys + " expected keys");
        }
        if (!(falsePositiveRate >= BloomSizing.RATE_MIN
                && falsePositiveRate <= BloomSizing.RATE_MAX)) {
            throw new InvalidRequestException(
                    "a Bloom filter's false positive rate must be between %s and %s, not %s"
                            .formatted(
                                    BloomSizing.RATE_MIN, BloomSizing.RATE_MAX, falsePositiveRate));
        }
        long blocks = BloomSizing.forRate(falsePositiveRate).blockCount(expectedKeys);
        return BloomFormat.HEADER_BYTES + blocks * BloomFormat.BLOCK_BYTES;
    }

    /** {@link #over(MemorySegment, long, long, String, long)} for bytes that come from no file. */
    public static BloomFilter over(MemorySegment segment, long offset, long bytes) {
        return over(segment, offset, bytes, "memory", offset);
    }

    /**
     * The filter whose bytes lie in {@code segment}; nothing is copied. For one cache line a test
     * they must start at a multiple of 64.
     *
     * @param file named in errors, with {@code fileOffset} where the filter starts in it
     * @throws io.turbidite.core.CorruptionException if the header is not one of a filter of this
     *     length
     */
    public static BloomFilter over(
            MemorySegment segment, long offset, long bytes, String file, long fileOffset) {
        MemorySegment filter = segment.asSlice(offset, bytes);
        BloomFormat.check(filter, file, fileOffset);
        return new BloomFilter(filter.asReadOnly());
    }

    /** False: the key of this hash was never added. True: it was, or the filter errs. */
    public boolean mayContain(long hash) {
        long block = blockOffset(hash, blockCount);
        int walk = (int) hash;
        // All probes, though the first zero decides: half of the bits are set, so a branch at each
        // is
        // mispredicted once a test, which costs more than reading the rest of one cache line.
        long all = 1;
        for (int i = 0; i < probes; i++) {
            int bit = walk >>> 23;
            all &= filter.get(Bytes.I64, block + ((bit >>> 6) << 3)) >>> bit;
            walk *= STEP;
        }
        return all != 0;
    }

    /** Keys that were added. */
    public long keyCount() {
        return filter.get(Bytes.I64, BloomFormat.KEY_COUNT_OFFSET);
    }

    /** Bits set for each key. */
    public int probes() {
        return probes;
    }

    /** Bytes of the filter, header included. */
    public long byteSize() {
        return filter.byteSize();
    }

    /**
     * Maps the upper half of the hash to 0..blockCount-1 by a multiplication instead of a division.
     */
    private static long blockOffset(long hash, long blockCount) {
        long block = ((hash >>> 32) * blockCount) >>> 32;
        return BloomFormat.HEADER_BYTES + (block << 6);
    }

    /**
     * Sets bits, of some keys at a time: each lies on another cache line, and so the waits for
     * memory overlap. <em>Confined to one thread.</em> The memory belongs to the arena that was
     * handed in.
     */
    public static final class Builder {
        private static final int PENDING_MAX = 32;

        private final MemorySegment filter;
        private final int probes;
        private final long blockCount;
        private long keyCount;

        /** Hashes whose bits are not set yet. */
        private final long[] pending = new long[PENDING_MAX];

        private int pendingCount;

        /** Never read: so that the compiler does not leave reads out that are only to touch. */
        @SuppressWarnings("unused")
        private long touched;

        private Builder(MemorySegment filter, int probes) {
            this.filter = filter;
            this.probes = probes;
            this.blockCount =
                    (filter.byteSize() - BloomFormat.HEADER_BYTES) / BloomFormat.BLOCK_BYTES;
        }

        /** Adds the key of this {@link BloomFilter#hash}. */
        public Builder add(long hash) {
            pending[pendingCount++] = hash;
            keyCount++;
            if (pendingCount == PENDING_MAX) {
                setPending();
            }
            return this;
        }

        private void setPending() {
            long sum = 0;
            for (int i = 0; i < pendingCount; i++) {
                sum += filter.get(Bytes.I64, blockOffset(pending[i], blockCount));
            }
            touched = sum;
            for (int i = 0; i < pendingCount; i++) {
                set(pending[i]);
            }
            pendingCount = 0;
        }

        private void set(long hash) {
            long block = blockOffset(hash, blockCount);
            int walk = (int) hash;
            for (int i = 0; i < probes; i++) {
                int bit = walk >>> 23;
                long at = block + ((bit >>> 6) << 3);
                filter.set(Bytes.I64, at, filter.get(Bytes.I64, at) | 1L << bit);
                walk *= STEP;
            }
        }

        public long keyCount() {
            return keyCount;
        }

        /** The filter's bytes as they go to disk; valid as long as the arena. */
        public MemorySegment segment() {
            setPending();
            BloomFormat.writeHeader(filter, probes, blockCount, keyCount);
            return filter;
        }

        /** The filter of what was added so far. */
        public BloomFilter build() {
            return new BloomFilter(segment());
        }
    }
}
