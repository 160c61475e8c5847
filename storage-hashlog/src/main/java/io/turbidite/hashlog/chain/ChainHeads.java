package io.turbidite.hashlog.chain;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.psf.PropertyHash;

import java.util.Arrays;

/**
 * How many chains the properties of each PSF are spread over: one, or several for a PSF with hot
 * values, so that sessions meet less often at one head and workers walk side by side.
 * <em>Immutable.</em>
 *
 * <p>Which of them a key pointer is on follows from its address, so that recovery finds it without
 * being told. Each chain is in the order of addresses; a walk over all of them takes the newest
 * head each time.
 */
public final class ChainHeads {
    /** Most chains of a property; a walk compares that many heads a step. */
    public static final int COUNT_MAX = 16;

    /** One chain for each property. */
    public static final ChainHeads ONE = new ChainHeads(new byte[0]);

    /** 2^64 divided by the golden ratio, odd: spreads addresses over its upper bits. */
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    private final byte[] bitsOfPsf;

    private ChainHeads(byte[] bitsOfPsf) {
        this.bitsOfPsf = bitsOfPsf;
    }

    /** Those of PSFs 0, 1, 2 ..., which have {@code counts} chains. */
    public static ChainHeads of(int[] counts) {
        byte[] bits = new byte[counts.length];
        for (int psf = 0; psf < counts.length; psf++) {
            bits[psf] = (byte) Integer.numberOfTrailingZeros(check(counts[psf]));
        }
        return Arrays.equals(bits, new byte[counts.length]) ? ONE : new ChainHeads(bits);
    }

    /**
     * Returns {@code count}.
     *
     * @throws InvalidRequestException if it is not 1, 2, 4, 8 or 16
     */
    public static int check(int count) {
        if (count < 1 || count > COUNT_MAX || Integer.bitCount(count) != 1) {
            throw new InvalidRequestException(
                    "%d chains, but 1, 2, 4, 8 or 16 are possible".formatted(count));
        }
        return count;
    }

    /** How many chains a property of the PSF has. */
    public int count(int psfId) {
        return psfId < bitsOfPsf.length ? 1 << bitsOfPsf[psfId] : 1;
    }

    /** The hash by which the table knows the chain that a key pointer is on. */
    long hash(int psfId, long propertyHash, long keyPointer) {
        int bits = psfId < bitsOfPsf.length ? bitsOfPsf[psfId] : 0;
        return bits == 0
                ? propertyHash
                : PropertyHash.ofChain(
                        propertyHash, (int) ((keyPointer * GOLDEN) >>> (Long.SIZE - bits)));
    }

    /** The same for a key pointer as a replay meets it. */
    public long hashAt(long value, long propertyHash, long keyPointer) {
        return hash(KeyPointer.psfId(value), propertyHash, keyPointer);
    }

    /** The hashes of all chains of a property. */
    public long[] hashes(Property property) {
        int count = count(property.psfId());
        long[] hashes = new long[count];
        for (int chain = 0; chain < count; chain++) {
            hashes[chain] =
                    count == 1 ? property.hash() : PropertyHash.ofChain(property.hash(), chain);
        }
        return hashes;
    }
}
