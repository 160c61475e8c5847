package io.turbidite.core.format;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The first bytes of every file: what it is, which release's layout it has, and whose it is.
 *
 * <p><em>Immutable.</em> Layout, which never changes (little-endian):
 *
 * <pre>
 * offset bytes field
 *      0     8 magic         "TURBIDIT"
 *      8    16 format        ASCII, zero-padded, for example "component"
 *     24     2 version       of the format, 1 to 65535
 *     26     2 flags         meaning is the format's own
 *     28     4 zero
 *     32     8 storeId       random, of the store: finds a file of another store
 *     40     8 fileId        of the file in its store: finds a stale file of the same name
 *     48    12 zero
 *     60     4 checksum      masked CRC32C of bytes 0 to 59
 * </pre>
 *
 * <p>A reader checks in this order: magic, checksum, zeros ({@link #read}), then format and version
 * ({@link #check}), then owner ({@link #checkOwner}). The checksum comes before the version, so
 * that a flipped bit in the version is damage and not "a newer release".
 *
 * @param format 1 to 16 characters out of a-z, 0-9 and '-'
 * @param version of the format, 1 to 65535
 * @param flags 16 bits, the format's own
 * @param storeId the store's random number
 * @param fileId the file's number in its store
 */
public record FileHeader(String format, int version, int flags, long storeId, long fileId) {
    /** Where the header lies in its file. */
    public static final long FILE_OFFSET = 0;

    /** Length of a header. */
    public static final int BYTES = 64;

    static final long MAGIC = 0x5449_4449_4252_5554L; // "TURBIDIT" read little-endian
    static final int MAGIC_OFFSET = 0;
    static final int FORMAT_OFFSET = MAGIC_OFFSET + 8;
    static final int FORMAT_BYTES = 16;
    /** Before it: what all files of a format begin with. */
    public static final int VERSION_OFFSET = FORMAT_OFFSET + FORMAT_BYTES;

    static final int FLAGS_OFFSET = VERSION_OFFSET + 2;
    static final int ZERO_OFFSET = FLAGS_OFFSET + 2;
    static final int STORE_ID_OFFSET = ZERO_OFFSET + 4;
    static final int FILE_ID_OFFSET = STORE_ID_OFFSET + 8;
    static final int MORE_ZERO_OFFSET = FILE_ID_OFFSET + 8;
    static final int CHECKSUM_OFFSET = BYTES - 4;

    private static final Pattern FORMAT = Pattern.compile("[a-z0-9-]{1,16}");
    private static final int U16_MAX = 0xFFFF;

    public FileHeader {
        if (!FORMAT.matcher(format).matches()) {
            throw new IllegalArgumentException("format name '" + format + "'");
        }
        if (version < 1 || version > U16_MAX || flags < 0 || flags > U16_MAX) {
            throw new IllegalArgumentException("version %d, flags %d".formatted(version, flags));
        }
    }

    /** Encodes {@link #BYTES} bytes at {@code offset}. */
    public void write(MemorySegment target, long offset) {
        target.asSlice(offset, BYTES).fill((byte) 0);
        target.set(Bytes.I64, offset + MAGIC_OFFSET, MAGIC);
        byte[] name = format.getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(name, 0, target, Bytes.U8, offset + FORMAT_OFFSET, name.length);
        target.set(Bytes.I16, offset + VERSION_OFFSET, (short) version);
        target.set(Bytes.I16, offset + FLAGS_OFFSET, (short) flags);
        target.set(Bytes.I64, offset + STORE_ID_OFFSET, storeId);
        target.set(Bytes.I64, offset + FILE_ID_OFFSET, fileId);
        target.set(
                Bytes.I32,
                offset + CHECKSUM_OFFSET,
                new Crc32c().compute(target, offset, CHECKSUM_OFFSET));
    }

    /** Writes the header where it belongs in {@code file}. */
    public void writeTo(DiskFile file) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        write(bytes, 0);
        file.write(FILE_OFFSET, bytes, 0, BYTES);
    }

    /**
     * Decodes the header that lies at {@code offset} of {@code source}; {@code file} is for
     * messages.
     *
     * @throws CorruptionException if magic, checksum or zeros are not as they should be
     */
    public static FileHeader read(String file, MemorySegment source, long offset) {
        long magic = source.get(Bytes.I64, offset + MAGIC_OFFSET);
        if (magic != MAGIC) {
            throw damaged(file, MAGIC_OFFSET, "magic", hex(MAGIC), hex(magic));
        }
        int stored = source.get(Bytes.I32, offset + CHECKSUM_OFFSET);
        int computed = new Crc32c().compute(source, offset, CHECKSUM_OFFSET);
        if (stored != computed) {
            throw damaged(file, CHECKSUM_OFFSET, "header checksum", hex(computed), hex(stored));
        }
        checkZero(file, source, offset, ZERO_OFFSET, STORE_ID_OFFSET);
        checkZero(file, source, offset, MORE_ZERO_OFFSET, CHECKSUM_OFFSET);
        String format = readFormat(file, source, offset);
        int version = source.get(Bytes.I16, offset + VERSION_OFFSET) & U16_MAX;
        if (version == 0) {
            throw damaged(file, VERSION_OFFSET, "format version", "1 or more", "0");
        }
        return new FileHeader(
                format,
                version,
                source.get(Bytes.I16, offset + FLAGS_OFFSET) & U16_MAX,
                source.get(Bytes.I64, offset + STORE_ID_OFFSET),
                source.get(Bytes.I64, offset + FILE_ID_OFFSET));
    }

    /**
     * Reads the header of {@code file}.
     *
     * @throws CorruptionException also if the file is too short to have one
     */
    public static FileHeader readFrom(DiskFile file) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        int byteCount = file.read(FILE_OFFSET, bytes, 0, BYTES);
        if (byteCount < BYTES) {
            throw damaged(file.name(), 0, "file", BYTES + " bytes or more", byteCount + " bytes");
        }
        return read(file.name(), bytes, 0);
    }

    /**
     * Requires the format, in a version that this release reads.
     *
     * @param readableVersion the version of the format that the caller reads
     * @return this
     * @throws CorruptionException if the file is of another format
     * @throws FormatVersionException if it is another version, newer or older
     */
    public FileHeader check(String file, String expectedFormat, int readableVersion) {
        return check(file, expectedFormat, readableVersion, readableVersion);
    }

    /**
     * As {@link #check(String, String, int)}, of a format that is read in several versions.
     *
     * @param oldest the first of them
     * @param newest the last of them, which is written
     */
    public FileHeader check(String file, String expectedFormat, int oldest, int newest) {
        checkFormat(file, expectedFormat);
        if (version < oldest || version > newest) {
            throw new FormatVersionException(file, format, version, newest);
        }
        return this;
    }

    /**
     * Requires the format, in whatever version.
     *
     * @return this
     * @throws CorruptionException if the file is of another format
     */
    public FileHeader checkFormat(String file, String expectedFormat) {
        if (!format.equals(expectedFormat)) {
            throw damaged(file, FORMAT_OFFSET, "format", expectedFormat, format);
        }
        return this;
    }

    /**
     * Requires that the file is the one that is meant: neither of another store nor an older file
     * that had the same name.
     *
     * @return this
     * @throws CorruptionException otherwise
     */
    public FileHeader checkOwner(String file, long expectedStoreId, long expectedFileId) {
        if (storeId != expectedStoreId) {
            throw damaged(file, STORE_ID_OFFSET, "store id", hex(expectedStoreId), hex(storeId));
        }
        if (fileId != expectedFileId) {
            throw damaged(file, FILE_ID_OFFSET, "file id", hex(expectedFileId), hex(fileId));
        }
        return this;
    }

    private static String readFormat(String file, MemorySegment source, long offset) {
        byte[] bytes = new byte[FORMAT_BYTES];
        MemorySegment.copy(source, Bytes.U8, offset + FORMAT_OFFSET, bytes, 0, FORMAT_BYTES);
        int length = 0;
        while (length < FORMAT_BYTES && bytes[length] != 0) {
            length++;
        }
        for (int i = length; i < FORMAT_BYTES; i++) {
            if (bytes[i] != 0) {
                throw damaged(file, FORMAT_OFFSET + i, "padding", "0", hex(bytes[i] & 0xFF));
            }
        }
        String format = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
        if (!FORMAT.matcher(format).matches()) {
            throw damaged(file, FORMAT_OFFSET, "format", "1 to 16 of a-z 0-9 -", format);
        }
        return format;
    }

    private static void checkZero(
            String file, MemorySegment source, long offset, int from, int to) {
        for (int i = from; i < to; i++) {
            byte found = source.get(Bytes.U8, offset + i);
            if (found != 0) {
                throw damaged(file, i, "padding", "0", hex(found & 0xFF));
            }
        }
    }

    private static CorruptionException damaged(
            String file, int at, String what, String expected, String found) {
        return new CorruptionException(file, FILE_OFFSET + at, what, expected, found);
    }

    static String hex(long value) {
        return "0x" + Long.toHexString(value);
    }

    static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }
}
