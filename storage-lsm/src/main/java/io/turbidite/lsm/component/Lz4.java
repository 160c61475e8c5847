package io.turbidite.lsm.component;

import net.jpountz.lz4.LZ4Compressor;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * LZ4 blocks between segments, by the library's Java implementation: no native code to load.
 *
 * <p><em>Thread-safe: stateless.</em> Decompression checks both bounds, so a block that is not LZ4
 * is an error and not a stray write.
 */
final class Lz4 {
    private static final LZ4Compressor COMPRESSOR =
            LZ4Factory.fastestJavaInstance().fastCompressor();
    private static final LZ4SafeDecompressor DECOMPRESSOR =
            LZ4Factory.fastestJavaInstance().safeDecompressor();

    private Lz4() {}

    /**
     * Fails with a {@link LinkageError} where the library is missing, as all of this class would.
     */
    static void load() {
        Objects.requireNonNull(DECOMPRESSOR);
    }

    /**
     * Compresses into at most {@code targetBytesMax} bytes.
     *
     * @return how many bytes it took, or -1 if it did not fit
     */
    static int compress(
            MemorySegment source, long sourceOffset, int sourceBytes, MemorySegment target) {
        ByteBuffer from = source.asSlice(sourceOffset, sourceBytes).asByteBuffer();
        ByteBuffer to = target.asByteBuffer();
        try {
            return COMPRESSOR.compress(from, 0, sourceBytes, to, 0, to.capacity());
        } catch (LZ4Exception e) {
            // the library's word for "does not fit"
            return -1;
        }
    }

    /** Decompresses; false unless exactly {@code target} is filled. */
    static boolean decompress(MemorySegment source, MemorySegment target) {
        ByteBuffer from = source.asByteBuffer();
        ByteBuffer to = target.asByteBuffer();
        try {
            int bytes = DECOMPRESSOR.decompress(from, 0, from.capacity(), to, 0, to.capacity());
            return bytes == to.capacity();
        } catch (LZ4Exception e) {
            return false;
        }
    }
}
