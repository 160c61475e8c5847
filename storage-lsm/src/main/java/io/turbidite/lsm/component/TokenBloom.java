package io.turbidite.lsm.component;

import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.lsm.entry.EntryHead;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Makes the Bloom filter of the tokens that keys begin with. How many there will be is not known:
 * their hashes are kept until the end. If they are very many, as many more are expected as there
 * were among the entries so far, and the filter is filled from then on.
 *
 * <p><em>Confined to one thread at a time.</em> Owned by a {@link ComponentWriter}.
 */
final class TokenBloom {
    /** Eight megabytes of hashes. */
    static final int KEPT_MAX = 1 << 20;

    /** What is expected beyond what the entries so far promise. */
    private static final double SPARE = 1.25;

    private final double rate;
    private final long expectedEntries;
    private final int keptMax;
    private final ByteSink keyBytes = new ByteSink(64, Limits.KEY_BYTES_MAX);
    private final Slice token = new Slice();
    private long[] hashes = new long[256];
    private int hashCount;
    private long entryCount;

    /** Of the last key; no key shares so much if there was none. */
    private int tokenBytes = Integer.MAX_VALUE;

    private BloomFilter.@Nullable Builder builder;

    TokenBloom(double rate, long expectedEntries) {
        this(rate, expectedEntries, KEPT_MAX);
    }

    /**
     * @param keptMax most hashes that are kept
     */
    TokenBloom(double rate, long expectedEntries, int keptMax) {
        this.rate = rate;
        this.expectedEntries = expectedEntries;
        this.keptMax = keptMax;
    }

    /**
     * Adds an entry's token.
     *
     * @param sharedBytes how many first bytes the key shares with the one before it
     */
    void add(EntryHead entry, int sharedBytes) {
        entryCount++;
        if (sharedBytes >= tokenBytes) {
            return;
        }
        entry.putKey(keyBytes.clear());
        Slice key = keyBytes.asSlice(token);
        int bytes = TokenKeys.tokenBytes(key);
        if (bytes < 0) {
            throw new IllegalArgumentException(key + " begins with no token");
        }
        tokenBytes = bytes;
        addHash(BloomFilter.hash(token.set(key.segment(), key.offset(), bytes)));
    }

    private void addHash(long hash) {
        BloomFilter.Builder filled = builder;
        if (filled != null) {
            filled.add(hash);
            return;
        }
        if (hashCount == hashes.length) {
            hashes = Arrays.copyOf(hashes, 2 * hashCount);
        }
        hashes[hashCount++] = hash;
        if (hashCount == keptMax) {
            double share = (double) hashCount / entryCount;
            fill(Math.max(hashCount, Math.round(share * expectedEntries * SPARE)), Arena.ofAuto());
        }
    }

    private BloomFilter.Builder fill(long expectedTokens, Arena arena) {
        BloomFilter.Builder filled = ComponentWriter.newBloom(rate, expectedTokens, arena);
        for (int i = 0; i < hashCount; i++) {
            filled.add(hashes[i]);
        }
        hashes = new long[0];
        builder = filled;
        return filled;
    }

    /** The filter's bytes. */
    MemorySegment build(Arena arena) {
        BloomFilter.Builder filled = builder;
        return (filled == null ? fill(hashCount, arena) : filled).segment();
    }
}
