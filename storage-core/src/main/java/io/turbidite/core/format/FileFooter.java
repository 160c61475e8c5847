package io.turbidite.core.format;

import static io.turbidite.core.format.FileHeader.hex;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;

import java.lang.foreign.MemorySegment;

/**
 * The last bytes of a file that is written once: where its table of contents (the payload) lies,
 * and that the file is whole.
 *
 * <p><em>Immutable.</em> Layout, which never changes (little-endian):
 *
 * <pre>
 * offset bytes field
 *      0     8 payloadOffset   from the start of the file
 *      8     8 payloadBytes
 *     16     8 storeId         as in the header
 *     24     8 fileId          as in the header
 *     32     4 payloadChecksum masked CRC32C of the payload
 *     36    16 zero
 *     52     4 checksum        masked CRC32C of bytes 0 to 51
 *     56     8 magic           "TURBFOOT"
 * </pre>
 *
 * <p>The magic comes last: a file that was cut anywhere does not end in it. The ids are there so
 * that a footer left in recycled disk blocks by another file is not taken for this file's.
 *
 * @param payloadOffset from the start of the file
 * @param payloadBytes length of the payload
 * @param payloadChecksum its {@link Crc32c}
 * @param storeId as in the file's header
 * @param fileId as in the file's header
 */
public record FileFooter(
        long payloadOffset, long payloadBytes, int payloadChecksum, long storeId, long fileId) {
    /** Length of a footer. */
    public static final int BYTES = 64;

    private static final int PIECE_BYTES = 64 << 10;

    static final long MAGIC = 0x544F_4F46_4252_5554L; // "TURBFOOT" read little-endian
    static final int PAYLOAD_OFFSET_OFFSET = 0;
    static final int PAYLOAD_BYTES_OFFSET = PAYLOAD_OFFSET_OFFSET + 8;
    static final int STORE_ID_OFFSET = PAYLOAD_BYTES_OFFSET + 8;
    static final int FILE_ID_OFFSET = STORE_ID_OFFSET + 8;
    static final int PAYLOAD_CHECKSUM_OFFSET = FILE_ID_OFFSET + 8;
    static final int ZERO_OFFSET = PAYLOAD_CHECKSUM_OFFSET + 4;
    static final int CHECKSUM_OFFSET = ZERO_OFFSET + 16;
    static final int MAGIC_OFFSET = CHECKSUM_OFFSET + 4;

    public FileFooter {
        if (payloadOffset < FileHeader.BYTES || payloadBytes < 0) {
            throw new IllegalArgumentException(
                    "payload of %d bytes at %d".formatted(payloadBytes, payloadOffset));
        }
    }

    /** Encodes {@link #BYTES} bytes at {@code offset}. */
    public void write(MemorySegment target, long offset) {
        target.asSlice(offset, BYTES).fill((byte) 0);
        target.set(Bytes.I64, offset + PAYLOAD_OFFSET_OFFSET, payloadOffset);
        target.set(Bytes.I64, offset + PAYLOAD_BYTES_OFFSET, payloadBytes);
        target.set(Bytes.I64, offset + STORE_ID_OFFSET, storeId);
        target.set(Bytes.I64, offset + FILE_ID_OFFSET, fileId);
        target.set(Bytes.I32, offset + PAYLOAD_CHECKSUM_OFFSET, payloadChecksum);
        target.set(
                Bytes.I32,
                offset + CHECKSUM_OFFSET,
                new Crc32c().compute(target, offset, CHECKSUM_OFFSET));
        target.set(Bytes.I64, offset + MAGIC_OFFSET, MAGIC);
    }

    /** Writes the footer at {@code fileOffset}, which makes it the end of {@code file}. */
    public void writeTo(DiskFile file, long fileOffset) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        write(bytes, 0);
        file.write(fileOffset, bytes, 0, BYTES);
    }

    /**
     * Decodes the footer that lies at {@code offset} of {@code source}.
     *
     * @param file for messages
     * @param fileBytes length of the file, of which the footer is the end
     * @throws CorruptionException if magic, checksum or zeros are not as they should be, or the
     *     payload does not lie between header and footer
     */
    public static FileFooter read(String file, long fileBytes, MemorySegment source, long offset) {
        long start = fileBytes - BYTES;
        long magic = source.get(Bytes.I64, offset + MAGIC_OFFSET);
        if (magic != MAGIC) {
            throw damaged(file, start + MAGIC_OFFSET, "end of file", hex(MAGIC), hex(magic));
        }
        int stored = source.get(Bytes.I32, offset + CHECKSUM_OFFSET);
        int computed = new Crc32c().compute(source, offset, CHECKSUM_OFFSET);
        if (stored != computed) {
            throw damaged(
                    file, start + CHECKSUM_OFFSET, "footer checksum", hex(computed), hex(stored));
        }
        for (int i = ZERO_OFFSET; i < CHECKSUM_OFFSET; i++) {
            byte found = source.get(Bytes.U8, offset + i);
            if (found != 0) {
                throw damaged(file, start + i, "padding", "0", hex(found & 0xFF));
            }
        }
        long payloadOffset = source.get(Bytes.I64, offset + PAYLOAD_OFFSET_OFFSET);
        long payloadBytes = source.get(Bytes.I64, offset + PAYLOAD_BYTES_OFFSET);
        if (payloadOffset < FileHeader.BYTES
                || payloadOffset > start
                || payloadBytes < 0
                || payloadBytes > start - payloadOffset) {
            throw damaged(
                    file,
                    start,
                    "payload",
                    "between %d and %d".formatted(FileHeader.BYTES, start),
                    "%d bytes at %d".formatted(payloadBytes, payloadOffset));
        }
        return new FileFooter(
                payloadOffset,
                payloadBytes,
                source.get(Bytes.I32, offset + PAYLOAD_CHECKSUM_OFFSET),
                source.get(Bytes.I64, offset + STORE_ID_OFFSET),
                source.get(Bytes.I64, offset + FILE_ID_OFFSET));
    }

    /**
     * Reads the footer of {@code file}.
     *
     * @throws CorruptionException also if the file is too short to have header and footer
     */
    public static FileFooter readFrom(DiskFile file) {
        long fileBytes = file.size();
        if (fileBytes < FileHeader.BYTES + BYTES) {
            throw damaged(
                    file.name(),
                    0,
                    "file",
                    (FileHeader.BYTES + BYTES) + " bytes or more",
                    fileBytes + " bytes");
        }
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        int byteCount = file.read(fileBytes - BYTES, bytes, 0, BYTES);
        if (byteCount < BYTES) {
            throw damaged(file.name(), fileBytes, "footer", BYTES + " bytes", byteCount + " bytes");
        }
        return read(file.name(), fileBytes, bytes, 0);
    }

    /**
     * Whether a file ends in what is, or was before some damage, the footer of a store's file: the
     * magic or one of the ids is there.
     */
    public static boolean isRecognizable(DiskFile file, long storeId, long fileId) {
        long start = file.size() - BYTES;
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        return start >= FileHeader.BYTES
                && file.read(start, bytes, 0, BYTES) == BYTES
                && (bytes.get(Bytes.I64, MAGIC_OFFSET) == MAGIC
                        || bytes.get(Bytes.I64, STORE_ID_OFFSET) == storeId
                        || bytes.get(Bytes.I64, FILE_ID_OFFSET) == fileId);
    }

    /**
     * Requires that header and footer are of one file.
     *
     * @return this
     * @throws CorruptionException otherwise
     */
    public FileFooter checkOwner(String file, long fileBytes, FileHeader header) {
        long start = fileBytes - BYTES;
        if (storeId != header.storeId()) {
            throw damaged(
                    file, start + STORE_ID_OFFSET, "store id", hex(header.storeId()), hex(storeId));
        }
        if (fileId != header.fileId()) {
            throw damaged(
                    file, start + FILE_ID_OFFSET, "file id", hex(header.fileId()), hex(fileId));
        }
        return this;
    }

    /**
     * Requires that the payload is all between header and footer.
     *
     * @return this
     * @throws CorruptionException otherwise
     */
    public FileFooter checkFills(String file, long fileBytes) {
        long wanted = fileBytes - FileHeader.BYTES - BYTES;
        if (payloadOffset != FileHeader.BYTES || payloadBytes != wanted) {
            throw damaged(
                    file,
                    fileBytes - BYTES,
                    "payload",
                    wanted + " bytes at " + FileHeader.BYTES,
                    payloadBytes + " bytes at " + payloadOffset);
        }
        return this;
    }

    /**
     * Requires that {@code payload}, read from where the footer says, is what was written.
     *
     * @throws CorruptionException otherwise
     */
    public void checkPayload(String file, MemorySegment payload, long offset) {
        int computed = new Crc32c().compute(payload, offset, payloadBytes);
        if (computed != payloadChecksum) {
            throw damaged(
                    file, payloadOffset, "payload checksum", hex(payloadChecksum), hex(computed));
        }
    }

    /**
     * As {@link #checkPayload(String, MemorySegment, long)}, of a payload that lies in its file at
     * {@code offset}, piece by piece: memory for the whole is worth having when it was found right.
     *
     * @throws CorruptionException also if the file ends before the payload
     */
    public void checkPayload(DiskFile file, long offset) {
        MemorySegment piece = MemorySegment.ofArray(new byte[PIECE_BYTES]);
        Crc32c crc = new Crc32c().begin();
        for (long done = 0; done < payloadBytes; done += PIECE_BYTES) {
            int wanted = (int) Math.min(PIECE_BYTES, payloadBytes - done);
            int got = file.read(offset + done, piece, 0, wanted);
            if (got < wanted) {
                throw damaged(
                        file.name(),
                        offset + done,
                        "payload",
                        payloadBytes + " bytes",
                        done + got + " bytes");
            }
            crc.update(piece, 0, wanted);
        }
        int computed = crc.value();
        if (computed != payloadChecksum) {
            throw damaged(
                    file.name(), offset, "payload checksum", hex(payloadChecksum), hex(computed));
        }
    }

    private static CorruptionException damaged(
            String file, long at, String what, String expected, String found) {
        return new CorruptionException(file, at, what, expected, found);
    }
}
