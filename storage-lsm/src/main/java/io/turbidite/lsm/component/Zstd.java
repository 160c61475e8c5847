package io.turbidite.lsm.component;

import com.github.luben.zstd.ZstdException;
import com.github.luben.zstd.util.Native;

import java.lang.foreign.MemorySegment;

/**
 * Zstandard frames between segments off the heap, by the native library of zstd-jni, which is
 * loaded when it is first needed. <em>Thread-safe: stateless.</em>
 *
 * <p>Decompression is given both lengths, so a block that is no frame of that many bytes is an
 * error and not a stray write.
 */
final class Zstd {
    /** The library's default: higher levels shrink pages of 32 KiB by a few per cent more. */
    private static final int LEVEL = 3;

    private Zstd() {}

    /** Fails with a {@link LinkageError} where the library or its native part is missing. */
    static void load() {
        Native.load();
    }

    static int compress(
            MemorySegment source, long sourceOffset, int sourceBytes, MemorySegment target) {
        try {
            return (int) com.github.luben.zstd.Zstd.compressDirectByteBuffer(
                    target.asByteBuffer(),
                    0,
                    (int) target.byteSize(),
                    source.asSlice(sourceOffset, sourceBytes).asByteBuffer(),
                    0,
                    sourceBytes,
                    LEVEL);
        } catch (ZstdException e) {
            // the library's word for "does not fit"
            return -1;
        }
    }

    static boolean decompress(MemorySegment source, MemorySegment target) {
        try {
            long bytes = com.github.luben.zstd.Zstd.decompressDirectByteBuffer(
                    target.asByteBuffer(),
                    0,
                    (int) target.byteSize(),
                    source.asByteBuffer(),
                    0,
                    (int) source.byteSize());
            return bytes == target.byteSize();
        } catch (ZstdException e) {
            return false;
        }
    }
}
