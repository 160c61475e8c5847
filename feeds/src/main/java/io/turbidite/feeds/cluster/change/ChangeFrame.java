package io.turbidite.feeds.cluster.change;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Xxh3;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A frame of the log of changes; descriptor of the structure on disk. <em>Immutable.</em>
 *
 * <p>The file is {@code cluster/CHANGES}: a {@link FileHeader} of format "cluster-log", version 1,
 * whose store id is the cluster's and whose file id is the epoch in which it was made, and frames.
 * A frame begins at a multiple of 8 (little-endian):
 *
 * <pre>
 * offset bytes field
 *      0     4 checksum   masked CRC32C of bytes 4 to the end, xor the place's low word
 *      4     4 length     of the payload
 *      8     8 number     of the change; of an epoch its number; of a mark the last change's
 *     16     8 word       the chain of the change; of an epoch its process; of a mark 0
 *     24     4 kind       1 change, 2 epoch, 3 mark
 *     28     4 headCheck  masked CRC32C of bytes 4 to 27, xor the place's high word
 *     32     n payload    {@link ChangeCodec}; of an epoch or a mark nothing
 *   32+n   0-7 zero       up to a multiple of 8
 * </pre>
 *
 * <p>The <em>place</em> is a hash of cluster, file id and offset. It is not stored: a frame is
 * valid only where it was written, and not where a disk shows the blocks of an older file.
 *
 * <p>A <em>mark</em> says that all before it is synced. It is written when that is so, is not
 * synced, and the next frame takes its place. So a frame behind which there is any other was
 * durable once: if it is damaged then, that is no torn end.
 */
final class ChangeFrame {
    static final String FORMAT = "cluster-log";
    static final int VERSION = 1;

    static final int ALIGNMENT = 8;
    static final int CHECKSUM_OFFSET = 0;
    static final int LENGTH_OFFSET = CHECKSUM_OFFSET + 4;
    static final int NUMBER_OFFSET = LENGTH_OFFSET + 4;
    static final int WORD_OFFSET = NUMBER_OFFSET + 8;
    static final int KIND_OFFSET = WORD_OFFSET + 8;
    static final int HEAD_CHECK_OFFSET = KIND_OFFSET + 4;
    static final int HEADER_BYTES = HEAD_CHECK_OFFSET + 4;

    static final int KIND_CHANGE = 1;
    static final int KIND_EPOCH = 2;
    static final int KIND_MARK = 3;

    /** Where the first frame is. */
    static final int FIRST_OFFSET = FileHeader.BYTES;

    private static final byte[] NOTHING = {};

    private final int kind;
    private final long number;
    private final long word;
    private final byte[] payload;

    private ChangeFrame(int kind, long number, long word, byte[] payload) {
        this.kind = kind;
        this.number = number;
        this.word = word;
        this.payload = payload;
    }

    static ChangeFrame of(Entry entry) {
        return new ChangeFrame(
                KIND_CHANGE, entry.number(), entry.chain(), ChangeCodec.encode(entry.change()));
    }

    static ChangeFrame of(Epoch epoch) {
        return new ChangeFrame(KIND_EPOCH, epoch.number(), epoch.process(), NOTHING);
    }

    static ChangeFrame mark(long number) {
        return new ChangeFrame(KIND_MARK, number, 0, NOTHING);
    }

    int kind() {
        return kind;
    }

    /** Of the change, or of the epoch. */
    long number() {
        return number;
    }

    /** The chain of a change, or the process of an epoch. */
    long word() {
        return word;
    }

    /** Not to be changed. */
    byte[] payload() {
        return payload;
    }

    /** In its file, with padding. */
    int byteCount() {
        return byteCount(payload.length);
    }

    private static int byteCount(int payloadBytes) {
        return (HEADER_BYTES + payloadBytes + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** The bytes of the frame, for an offset of its file. */
    byte[] encode(FileHeader file, long offset) {
        byte[] bytes = new byte[byteCount()];
        MemorySegment target = MemorySegment.ofArray(bytes);
        Crc32c crc = new Crc32c();
        long place = place(file, offset);
        target.set(Bytes.I32, LENGTH_OFFSET, payload.length);
        target.set(Bytes.I64, NUMBER_OFFSET, number);
        target.set(Bytes.I64, WORD_OFFSET, word);
        target.set(Bytes.I32, KIND_OFFSET, kind);
        target.set(Bytes.I32, HEAD_CHECK_OFFSET, headCheck(target, 0, place, crc));
        System.arraycopy(payload, 0, bytes, HEADER_BYTES, payload.length);
        target.set(Bytes.I32, CHECKSUM_OFFSET, checksum(target, 0, bytes.length, place, crc));
        return bytes;
    }

    /** The frame at an offset of a file; null if there is no whole one. */
    static @Nullable ChangeFrame read(byte[] file, int offset, FileHeader header, Crc32c crc) {
        if (file.length - offset < HEADER_BYTES) {
            return null;
        }
        MemorySegment source = MemorySegment.ofArray(file);
        long place = place(header, offset);
        if (source.get(Bytes.I32, (long) offset + HEAD_CHECK_OFFSET)
                != headCheck(source, offset, place, crc)) {
            return null;
        }
        int length = source.get(Bytes.I32, (long) offset + LENGTH_OFFSET);
        if (length < 0
                || length > ChangeCodec.PAYLOAD_BYTES_MAX
                || byteCount(length) > file.length - offset
                || source.get(Bytes.I32, (long) offset + CHECKSUM_OFFSET)
                        != checksum(source, offset, byteCount(length), place, crc)) {
            return null;
        }
        int from = offset + HEADER_BYTES;
        return new ChangeFrame(
                source.get(Bytes.I32, (long) offset + KIND_OFFSET),
                source.get(Bytes.I64, (long) offset + NUMBER_OFFSET),
                source.get(Bytes.I64, (long) offset + WORD_OFFSET),
                Arrays.copyOfRange(file, from, from + length));
    }

    private static long place(FileHeader file, long offset) {
        return Xxh3.hash(Xxh3.hash(file.storeId(), file.fileId()), offset);
    }

    private static int headCheck(MemorySegment bytes, int at, long place, Crc32c crc) {
        return crc.compute(bytes, (long) at + LENGTH_OFFSET, HEAD_CHECK_OFFSET - LENGTH_OFFSET)
                ^ (int) (place >>> 32);
    }

    private static int checksum(
            MemorySegment bytes, int at, int byteCount, long place, Crc32c crc) {
        return crc.compute(bytes, (long) at + LENGTH_OFFSET, byteCount - LENGTH_OFFSET)
                ^ (int) place;
    }
}
