package io.turbidite.lsm.component;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How leaf pages are stored. The codes are on disk. A page that does not shrink is stored as it is.
 */
public enum Compression {
    /** As it is. */
    NONE(0, ""),
    /** Cheap to undo. */
    LZ4(1, "at.yawk.lz4:lz4-java"),
    /** Smaller than LZ4, and several times its CPU time; by a native library. */
    ZSTD(2, "com.github.luben:zstd-jni");

    /** {@code values()} makes a copy each time, and each page that is read asks. */
    private static final Compression[] BY_CODE = values();

    private final int code;

    /** Where it comes from: group and artifact. */
    private final String library;

    Compression(int code, String library) {
        this.code = code;
        this.library = library;
    }

    /** The name in definitions: {@code lz4}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The compression of this name.
     *
     * @throws InvalidRequestException listing all of them
     */
    public static Compression ofLabel(String label) {
        for (Compression compression : values()) {
            if (compression.label().equals(label)) {
                return compression;
            }
        }
        throw new InvalidRequestException("unknown compression '%s'; there are %s"
                .formatted(
                        label,
                        Arrays.stream(values())
                                .map(Compression::label)
                                .collect(Collectors.joining(", "))));
    }

    /**
     * Requires that this machine can do it.
     *
     * @throws InvalidRequestException if its library is not here or can't be loaded
     */
    public void requireAvailable() {
        try {
            switch (this) {
                case NONE -> {}
                case LZ4 -> Lz4.load();
                case ZSTD -> Zstd.load();
            }
        } catch (LinkageError missing) {
            throw new InvalidRequestException(
                    "compression %s needs the library %s, which is not here or can't be loaded (%s)"
                            .formatted(label(), library, missing.getMessage()),
                    missing);
        }
    }

    int code() {
        return code;
    }

    /** The compression with that code; null if there is none. */
    static @Nullable Compression ofCode(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }

    /**
     * Compresses {@code sourceBytes} bytes into {@code target}.
     *
     * @return how many bytes it took, or -1 if it did not fit
     */
    int compress(MemorySegment source, long sourceOffset, int sourceBytes, MemorySegment target) {
        return switch (this) {
            case NONE -> -1;
            case LZ4 -> Lz4.compress(source, sourceOffset, sourceBytes, target);
            case ZSTD -> Zstd.compress(source, sourceOffset, sourceBytes, target);
        };
    }

    /** Decompresses; false unless exactly {@code target} is filled. */
    boolean decompress(MemorySegment source, MemorySegment target) {
        return switch (this) {
            case NONE -> false;
            case LZ4 -> Lz4.decompress(source, target);
            case ZSTD -> Zstd.decompress(source, target);
        };
    }
}
