package io.turbidite.hashlog.parse;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorSpecies;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;

/**
 * A vector at once: as fast as memory hands the bytes over. As {@link VectorMasks}, nothing but
 * {@link ScanMode} may name it. <em>Stateless.</em>
 */
final class VectorLineEnds implements LineEnds {
    private static final VectorSpecies<Byte> SPECIES = VectorMasks.SPECIES;
    private static final int LANES = SPECIES.length();

    private final LineEnds rest = new WordLineEnds();

    @Override
    public long end(MemorySegment segment, long from, long to) {
        long at = from;
        if (isOfBytes(segment)) {
            for (; at + LANES <= to; at += LANES) {
                long newlines = ByteVector.fromMemorySegment(
                                SPECIES, segment, at, ByteOrder.LITTLE_ENDIAN)
                        .eq((byte) '\n')
                        .toLong();
                if (newlines != 0) {
                    return at + Long.numberOfTrailingZeros(newlines);
                }
            }
        }
        return rest.end(segment, at, to);
    }

    /** Vectors are loaded from native memory and arrays of bytes, and from no other array. */
    private static boolean isOfBytes(MemorySegment segment) {
        // of an array it is the size of an element
        return segment.isNative() || segment.maxByteAlignment() == 1;
    }
}
