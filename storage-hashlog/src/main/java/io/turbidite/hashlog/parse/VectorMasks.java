package io.turbidite.hashlog.parse;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Compares a whole vector of bytes with each character at once. With {@link VectorLineEnds} the
 * class that needs the module {@code jdk.incubator.vector}: nothing but {@link ScanMode} may name
 * them, and only after it saw that the module is there.
 *
 * <p>{@code '['} and {@code '{'} differ in the bit 0x20 alone, as do {@code ']'} and {@code '}'},
 * and no other byte becomes one of them when the bit is set: one comparison finds both.
 */
final class VectorMasks implements BlockMasks {
    /** As wide as the machine likes, up to a block. */
    static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED.length() > BLOCK_BYTES
            ? ByteVector.SPECIES_512
            : ByteVector.SPECIES_PREFERRED;

    private static final int LANES = SPECIES.length();

    @Override
    public void read(byte[] bytes, int offset, int blockCount, StructuralIndex into) {
        long[] quotes = into.quotes;
        long[] slashes = into.slashes;
        long[] opens = into.opens;
        long[] closes = into.closes;
        long[] separators = into.separators;
        for (int b = 0; b < blockCount; b++) {
            long quote = 0;
            long slash = 0;
            long open = 0;
            long close = 0;
            long comma = 0;
            // one round for 512 bits, two for 256, four for 128
            for (int lane = 0; lane < BLOCK_BYTES; lane += LANES) {
                ByteVector part =
                        ByteVector.fromArray(SPECIES, bytes, offset + b * BLOCK_BYTES + lane);
                ByteVector folded = part.or((byte) 0x20);
                quote |= part.eq((byte) '"').toLong() << lane;
                slash |= part.eq((byte) '\\').toLong() << lane;
                comma |= part.eq((byte) ',').toLong() << lane;
                open |= folded.eq((byte) '{').toLong() << lane;
                close |= folded.eq((byte) '}').toLong() << lane;
            }
            quotes[b] = quote;
            slashes[b] = slash;
            opens[b] = open;
            closes[b] = close;
            separators[b] = comma;
        }
    }
}
