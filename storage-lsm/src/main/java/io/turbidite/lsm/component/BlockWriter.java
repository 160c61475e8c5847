package io.turbidite.lsm.component;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Appends blocks to a file: collects them in a buffer and writes it whole, so that the disk sees
 * long sequential writes.
 *
 * <p><em>Confined to one thread at a time.</em> File and arena are the component
 * writer's.
 *
 * <p>A leaf page is laid out in the buffer itself: {@link #reserve}, fill in what is behind the
 * header, {@link #seal}.
 */
final class BlockWriter {
    /** A megabyte: 32 default pages a write. */
    static final int BUFFER_BYTES = 1 << 20;

    /** To begin with: most components of a small memory are not larger, and memory comes zeroed. */
    private static final int FIRST_BUFFER_BYTES = 64 << 10;

    private final DiskFile file;
    private final long fileId;
    private final Crc32c crc = new Crc32c();
    private final Arena arena;
    private MemorySegment buffer;
    private long bufferFileOffset;
    private int buffered;

    /**
     * @param fileOffset where the first block goes
     */
    BlockWriter(DiskFile file, long fileId, long fileOffset, Arena arena) {
        this.file = file;
        this.fileId = fileId;
        this.bufferFileOffset = fileOffset;
        this.arena = arena;
        this.buffer = NativeMemory.allocate(arena, FIRST_BUFFER_BYTES, 64);
    }

    /** Where the next block starts in the file. */
    long fileOffset() {
        return bufferFileOffset + buffered;
    }

    /** The segment that a reserved block lies in. */
    MemorySegment buffer() {
        return buffer;
    }

    /**
     * Makes room for a block of {@code blockBytes} at most.
     *
     * @return its offset in {@link #buffer()}
     */
    int reserve(int blockBytes) {
        while (blockBytes > buffer.byteSize() - buffered && buffer.byteSize() < BUFFER_BYTES) {
            MemorySegment larger = NativeMemory.allocate(arena, 4 * buffer.byteSize(), 64);
            MemorySegment.copy(buffer, 0, larger, 0, buffered);
            buffer = larger;
        }
        if (blockBytes > buffer.byteSize() - buffered) {
            flush();
            if (blockBytes > buffer.byteSize()) {
                // a page with one huge record; there may be more of them, so the buffer stays
                buffer = NativeMemory.allocate(arena, blockBytes, 64);
            }
        }
        return buffered;
    }

    /**
     * Finishes the block that was reserved last: the bytes behind its header are there.
     *
     * @return its bytes in the file, header included
     */
    int seal(Block.Kind kind, int number, Compression compression, int payloadBytes, int rawBytes) {
        Block.writeHeader(buffer, buffered, kind, number, fileId);
        Block.writeLengths(buffer, buffered, compression, payloadBytes, rawBytes);
        int blockBytes = Block.HEADER_BYTES + payloadBytes;
        int checksum = crc.compute(
                buffer, buffered + (long) Block.KIND_OFFSET, blockBytes - (long) Block.KIND_OFFSET);
        buffer.set(Bytes.I32, buffered + (long) Block.CHECKSUM_OFFSET, checksum);
        buffered += blockBytes;
        return blockBytes;
    }

    /**
     * Writes a block that is already in memory, straight from there.
     *
     * @param payload without header
     * @return where it lies
     */
    Section write(Block.Kind kind, MemorySegment payload) {
        int payloadBytes = Math.toIntExact(payload.byteSize());
        int at = reserve(Block.HEADER_BYTES);
        Block.writeHeader(buffer, at, kind, 0, fileId);
        Block.writeLengths(buffer, at, Compression.NONE, payloadBytes, payloadBytes);
        crc.begin()
                .update(
                        buffer,
                        at + (long) Block.KIND_OFFSET,
                        Block.HEADER_BYTES - (long) Block.KIND_OFFSET)
                .update(payload, 0, payloadBytes);
        buffer.set(Bytes.I32, at + (long) Block.CHECKSUM_OFFSET, crc.value());
        Section section = new Section(fileOffset(), Block.HEADER_BYTES + (long) payloadBytes);
        buffered += Block.HEADER_BYTES;
        flush();
        file.write(bufferFileOffset, payload, 0, payloadBytes);
        bufferFileOffset += payloadBytes;
        return section;
    }

    void flush() {
        if (buffered > 0) {
            file.write(bufferFileOffset, buffer, 0, buffered);
            bufferFileOffset += buffered;
            buffered = 0;
        }
    }

    /** Where a block lies in the file, header included; 0 bytes if there is none. */
    record Section(long fileOffset, long bytes) {}
}
