package io.turbidite.feeds.source.file;

import org.jspecify.annotations.Nullable;

/** Forms of compressed files that are not read, told by their first bytes. */
public enum Packing {
    ZSTD("zstd", "zstd -dc", 0x28, 0xB5, 0x2F, 0xFD),
    XZ("xz", "xz -dc", 0xFD, '7', 'z', 'X', 'Z', 0),
    /** Its level, any byte here, stands before the mark of the first block. */
    BZIP2("bzip2", "bzip2 -dc", 'B', 'Z', 'h', -1, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59),
    ZIP("zip", "unzip -p", 'P', 'K', 3, 4),
    LZ4("lz4", "lz4 -dc", 0x04, 0x22, 0x4D, 0x18);

    /** More than any of them begins with. */
    static final int BYTES_MAX = 16;

    private final String label;
    private final String command;

    @SuppressWarnings("ImmutableEnumChecker") // nobody else has it
    private final int[] first;

    Packing(String label, String command, int... first) {
        this.label = label;
        this.command = command;
        this.first = first;
    }

    /** The one that {@code byteCount} bytes begin as, or null. */
    public static @Nullable Packing of(byte[] bytes, int offset, int byteCount) {
        for (Packing packing : values()) {
            if (packing.begins(bytes, offset, byteCount)) {
                return packing;
            }
        }
        return null;
    }

    /** Whether more bytes are needed to tell that they begin as none, or as which. */
    public static boolean isOpen(byte[] bytes, int offset, int byteCount) {
        for (Packing packing : values()) {
            if (byteCount < packing.first.length
                    && packing.sameCount(bytes, offset, byteCount) == byteCount) {
                return true;
            }
        }
        return false;
    }

    private boolean begins(byte[] bytes, int offset, int byteCount) {
        return sameCount(bytes, offset, byteCount) == first.length;
    }

    /** How many bytes are as they must be, one after the other. */
    private int sameCount(byte[] bytes, int offset, int byteCount) {
        int same = 0;
        while (same < Math.min(byteCount, first.length)
                && (first[same] < 0 || (bytes[offset + same] & 0xFF) == first[same])) {
            same++;
        }
        return same;
    }

    /** As people call it. */
    public String label() {
        return label;
    }

    /** What writes the content of a file to standard output. */
    public String command() {
        return command;
    }
}
