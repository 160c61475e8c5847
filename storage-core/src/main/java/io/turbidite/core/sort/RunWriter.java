package io.turbidite.core.sort;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import java.lang.foreign.MemorySegment;

/**
 * Writes a run file ({@link RunFormat}) in one pass, a block at a time.
 *
 * <p><em>Confined to one thread.</em> Owns the open file and its buffer; the file itself is the
 * caller's.
 */
final class RunWriter implements AutoCloseable {
    private final RunStorage storage;
    private final DiskFile file;
    private final long number;
    private final Crc32c crc = new Crc32c();
    private final MemorySegment buffer;
    private long fileOffset = FileHeader.BYTES;
    private int blockBytes = RunFormat.BLOCK_HEADER_BYTES;
    private int blockEntries;
    private int blockCount;
    private int blockBytesMax;
    private int sharedBytes;

    private RunWriter(RunStorage storage, DiskFile file, long number, MemorySegment buffer) {
        this.storage = storage;
        this.file = file;
        this.number = number;
        this.buffer = buffer;
    }

    static RunWriter create(RunStorage storage) {
        MemorySegment buffer = storage.takeBuffer(storage.blockBytes());
        RunWriter writer = null;
        try {
            while (writer == null) {
                long number = storage.newNumber();
                try {
                    DiskFile file = storage.disk().create(storage.nameOf(number));
                    writer = new RunWriter(storage, file, number, buffer);
                } catch (StorageIoException e) {
                    if (e.kind() != StorageIoException.Kind.ALREADY_EXISTS) {
                        throw e;
                    }
                    // another process's, or one that a killed process left: the next number
                }
            }
            return writer;
        } finally {
            if (writer == null) {
                storage.giveBuffer(buffer);
            }
        }
    }

    String name() {
        return file.name();
    }

    /** Writes what is left of {@code input}, but at most {@code countMax} entries. */
    Run write(SortedInput input, long countMax) {
        new FileHeader(RunFormat.FORMAT, RunFormat.VERSION, 0, storage.ownerId(), number)
                .writeTo(file);
        for (long left = countMax; left > 0 && input.next(); left--) {
            add(input.key(), input.number(), input.payload());
            sharedBytes = input.sharedBytes();
        }
        flush();
        return new Run(number, file.name(), blockCount, blockBytesMax, fileOffset, sharedBytes);
    }

    private void add(Slice key, long entryNumber, Slice payload) {
        long bytes = EntryFormat.bytes(key, payload);
        if (blockBytes + bytes > storage.blockBytes()) {
            flush();
            if (blockBytes + bytes > storage.blockBytes()) {
                addLarge(key, entryNumber, payload, bytes);
                return;
            }
        }
        EntryFormat.write(key, entryNumber, payload, buffer, blockBytes);
        blockBytes += (int) bytes;
        blockEntries++;
    }

    /** A block of its own, which is not kept: large entries are rare. */
    private void addLarge(Slice key, long entryNumber, Slice payload, long bytes) {
        int largeBytes = Math.toIntExact(RunFormat.BLOCK_HEADER_BYTES + bytes);
        MemorySegment large = storage.takeBuffer(largeBytes);
        try {
            EntryFormat.write(key, entryNumber, payload, large, RunFormat.BLOCK_HEADER_BYTES);
            write(large, largeBytes, 1);
        } finally {
            crc.forget();
            storage.giveBuffer(large);
        }
    }

    private void flush() {
        if (blockEntries > 0) {
            write(buffer, blockBytes, blockEntries);
            blockBytes = RunFormat.BLOCK_HEADER_BYTES;
            blockEntries = 0;
        }
    }

    private void write(MemorySegment block, int bytes, int entries) {
        block.set(Bytes.I32, RunFormat.NUMBER_OFFSET, blockCount);
        block.set(Bytes.I64, RunFormat.FILE_ID_OFFSET, number);
        block.set(Bytes.I32, RunFormat.PAYLOAD_BYTES_OFFSET, bytes - RunFormat.BLOCK_HEADER_BYTES);
        block.set(Bytes.I32, RunFormat.ENTRY_COUNT_OFFSET, entries);
        int checksum =
                crc.compute(block, RunFormat.NUMBER_OFFSET, bytes - (long) RunFormat.NUMBER_OFFSET);
        block.set(Bytes.I32, RunFormat.CHECKSUM_OFFSET, checksum);
        file.write(fileOffset, block, 0, bytes);
        fileOffset += bytes;
        blockCount++;
        blockBytesMax = Math.max(blockBytesMax, bytes);
    }

    @Override
    public void close() {
        crc.forget();
        storage.giveBuffer(buffer);
        file.close();
    }
}
