package io.turbidite.pm.region;

/**
 * A word that tells when it was damaged: 40 bits of payload and 24 bits of check. It is changed by
 * one store, so payload and check are always of one time. The check depends on a salt too, so that
 * a sound word in a wrong place is damage.
 *
 * <p><em>Stateless.</em> A change of bits is missed with a probability of 2^-24.
 */
public final class CheckedWord {
    /** How many bits a payload has. */
    public static final int PAYLOAD_BITS = 40;

    /** The largest payload. */
    public static final long PAYLOAD_MAX = (1L << PAYLOAD_BITS) - 1;

    private CheckedWord() {}

    /** The word that carries {@code payload}. */
    public static long of(long payload, long salt) {
        assert payload >= 0 && payload <= PAYLOAD_MAX : payload;
        return payload | check(payload, salt) << PAYLOAD_BITS;
    }

    /** Whether a word is one that {@link #of} has made with this salt. */
    public static boolean isSound(long word, long salt) {
        return word >>> PAYLOAD_BITS == check(word & PAYLOAD_MAX, salt);
    }

    /** What a sound word carries. */
    public static long payload(long word) {
        return word & PAYLOAD_MAX;
    }

    private static long check(long payload, long salt) {
        return mix(payload ^ mix(salt)) >>> PAYLOAD_BITS;
    }

    /** The finalizer of SplitMix64: each bit of the input changes each of the output. */
    public static long mix(long value) {
        long x = value + 0x9e3779b97f4a7c15L;
        x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9L;
        x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
        return x ^ (x >>> 31);
    }
}
