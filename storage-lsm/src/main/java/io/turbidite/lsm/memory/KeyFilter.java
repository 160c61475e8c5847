package io.turbidite.lsm.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Says of most keys that are not in a memory component that they are not: a Bloom filter whose four
 * bits of a key lie in one word, in one chunk of memory.
 *
 * <p>An eager upsert looks for its key in every layer, and most keys are new: a test costs one
 * cache line here and a descent of three or four nodes there (profiled: a tenth of the CPU of
 * ingestion). With 128 MiB of write memory and records of 500 bytes a key has 32 bits; with far
 * more keys the filter lets all through and costs next to nothing.
 *
 * <p><em>Thread-safe:</em> a word is changed by an atomic or, which comes before the key's put;
 * whoever sees the put sees the bits. The owner closes it when no operation uses it any more.
 */
public final class KeyFilter implements AutoCloseable {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final ChunkSource chunks;
    private final MemorySegment words;
    private final long wordMask;

    /** Whether a key was added; written before its bits. */
    private volatile boolean hasKeys;

    private KeyFilter(ChunkSource chunks) {
        this.chunks = chunks;
        this.words = chunks.take();
        this.wordMask = chunks.chunkBytes() / Long.BYTES - 1L;
        words.fill((byte) 0);
    }

    /** An empty filter; takes one chunk. */
    public static KeyFilter create(ChunkSource chunks) {
        return new KeyFilter(chunks);
    }

    /** Adds a key by its {@link io.turbidite.core.bloom.BloomFilter#hash hash}. */
    public void add(long hash) {
        if (!hasKeys) {
            hasKeys = true;
        }
        long offset = offset(hash);
        long bits = bits(hash);
        if (((long) WORD.getOpaque(words, offset) & bits) != bits) {
            WORD.getAndBitwiseOr(words, offset, bits);
        }
    }

    /** Whether a key was added. */
    public boolean hasKeys() {
        return hasKeys;
    }

    /** False: the key of this hash was never added. True: it was, or the filter errs. */
    public boolean mayContain(long hash) {
        if (!hasKeys) {
            return false; // after a flush, say: a get then waits for no line of the filter
        }
        long bits = bits(hash);
        return ((long) WORD.getAcquire(words, offset(hash)) & bits) == bits;
    }

    private long offset(long hash) {
        return ((hash >>> 24) & wordMask) * Long.BYTES;
    }

    /** Four times six bits of the hash; {@link #offset} uses others. */
    private static long bits(long hash) {
        return 1L << hash | 1L << (hash >>> 6) | 1L << (hash >>> 12) | 1L << (hash >>> 18);
    }

    @Override
    public void close() {
        chunks.give(words);
    }
}
