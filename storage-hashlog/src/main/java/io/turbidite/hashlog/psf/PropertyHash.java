package io.turbidite.hashlog.psf;

import io.turbidite.core.bytes.Xxh3;

import java.lang.foreign.MemorySegment;

/**
 * H(PSF id, value) of FISH19 §4.1, 64 bits: XXH3 of the value's bytes, or the integer itself,
 * finished together with the PSF id by a mixer of full avalanche. The hash index on disk depends on
 * it: a change is a change of format.
 */
public final class PropertyHash {
    /** 2^64 divided by the golden ratio, odd. */
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    /** Keeps an integer and a text apart whose words coincide. */
    private static final long INLINE_SALT = 0xD6E8_FEB8_6659_FD93L;

    private PropertyHash() {}

    /** The hash of the integer {@code value} of PSF {@code psfId}. */
    public static long ofInline(int psfId, long value) {
        return mix(mix(value ^ INLINE_SALT) + psfId * GOLDEN);
    }

    /** The hash of {@code length} bytes as the value of PSF {@code psfId}. */
    public static long ofBytes(int psfId, MemorySegment segment, long offset, int length) {
        return mix(Xxh3.hash(segment, offset, length) + psfId * GOLDEN);
    }

    /** The same of bytes on the heap. */
    static long ofBytes(int psfId, byte[] bytes, int offset, int length) {
        return mix(Xxh3.hash(bytes, offset, length) + psfId * GOLDEN);
    }

    /** The hash of chain {@code chain} of several that the property of {@code hash} has. */
    public static long ofChain(long hash, int chain) {
        return mix(hash + (chain + 1) * GOLDEN);
    }

    /**
     * The finaliser of SplitMix64: each bit of the argument flips each bit of the result half the
     * time.
     */
    private static long mix(long word) {
        long z = word;
        z = (z ^ (z >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d0_49bb_1331_11ebL;
        return z ^ (z >>> 31);
    }
}
