package io.turbidite.ops.sort;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * One sorted run: written once, then read once as an input. Closing closes the file; its owner deletes
 * it. <em>Confined to one thread at a time.</em>
 */
final class RunFile implements SortedInput {
    private final DiskFile file;
    private final Crc32c crc = new Crc32c();
    private final Slice key = new Slice();
    private final Slice payload = new Slice();
    private MemorySegment block = newBlock(RunFormat.BLOCK_BYTES);
    private long fileOffset;
    private int used = RunFormat.BLOCK_HEADER_BYTES;
    private int blockEnd;

    RunFile(DiskFile file) {
        this.file = file;
    }

    /** Appends an entry; keys must come in ascending order. */
    void add(Slice entryKey, Slice entryPayload) {
        long bytes =
                (long) SortBuffer.ENTRY_HEADER_BYTES + entryKey.length() + entryPayload.length();
        if (used + bytes > block.byteSize()) {
            writeBlock();
            ensureBlock(RunFormat.BLOCK_HEADER_BYTES + bytes);
        }
        block.set(Bytes.I32, used, entryKey.length());
        block.set(Bytes.I32, used + 4L, entryPayload.length());
        long at = used + (long) SortBuffer.ENTRY_HEADER_BYTES;
        MemorySegment.copy(entryKey.segment(), entryKey.offset(), block, at, entryKey.length());
        MemorySegment.copy(
                entryPayload.segment(),
                entryPayload.offset(),
                block,
                at + entryKey.length(),
                entryPayload.length());
        used += (int) bytes;
    }

    /** Ends writing; reading begins at the first entry. Holds no block until then. */
    void rewind() {
        writeBlock();
        block = MemorySegment.NULL;
        fileOffset = 0;
        blockEnd = 0;
        used = 0;
    }

    @Override
    public boolean next() {
        if (used == blockEnd && !readBlock()) {
            return false;
        }
        int keyBytes = block.get(Bytes.I32, used);
        int payloadBytes = block.get(Bytes.I32, used + 4L);
        int at = used + SortBuffer.ENTRY_HEADER_BYTES;
        key.set(block, at, keyBytes);
        payload.set(block, at + (long) keyBytes, payloadBytes);
        used = at + keyBytes + payloadBytes;
        return true;
    }

    @Override
    public Slice key() {
        return key;
    }

    @Override
    public Slice payload() {
        return payload;
    }

    @Override
    public void close() {
        file.close();
    }

    private void writeBlock() {
        int bytes = used - RunFormat.BLOCK_HEADER_BYTES;
        if (bytes > 0) {
            block.set(Bytes.I32, RunFormat.ENTRY_BYTES_OFFSET, bytes);
            block.set(
                    Bytes.I32,
                    RunFormat.CHECKSUM_OFFSET,
                    crc.compute(block, RunFormat.BLOCK_HEADER_BYTES, bytes));
            file.write(fileOffset, block, 0, used);
            fileOffset += used;
            used = RunFormat.BLOCK_HEADER_BYTES;
        }
    }

    private boolean readBlock() {
        long left = file.size() - fileOffset;
        if (left == 0) {
            return false;
        }
        ensureBlock(RunFormat.BLOCK_BYTES);
        int header = file.read(fileOffset, block, 0, RunFormat.BLOCK_HEADER_BYTES);
        int bytes = header < RunFormat.BLOCK_HEADER_BYTES
                ? -1
                : block.get(Bytes.I32, RunFormat.ENTRY_BYTES_OFFSET);
        if (bytes <= 0 || bytes > left - RunFormat.BLOCK_HEADER_BYTES) {
            throw damaged("bytes of entries", "1 to " + (left - header), bytes);
        }
        int expected = block.get(Bytes.I32, RunFormat.CHECKSUM_OFFSET);
        ensureBlock(RunFormat.BLOCK_HEADER_BYTES + (long) bytes);
        int read = file.read(
                fileOffset + RunFormat.BLOCK_HEADER_BYTES,
                block,
                RunFormat.BLOCK_HEADER_BYTES,
                bytes);
        int found = crc.compute(block, RunFormat.BLOCK_HEADER_BYTES, bytes);
        if (read < bytes || found != expected) {
            throw damaged("checksum", Integer.toHexString(expected), Integer.toHexString(found));
        }
        fileOffset += RunFormat.BLOCK_HEADER_BYTES + (long) bytes;
        used = RunFormat.BLOCK_HEADER_BYTES;
        blockEnd = used + bytes;
        return true;
    }

    private void ensureBlock(long bytes) {
        if (bytes > block.byteSize()) {
            block = newBlock(bytes);
        }
    }

    private static MemorySegment newBlock(long bytes) {
        return Arena.ofAuto().allocate(bytes, 8);
    }

    private CorruptionException damaged(String what, String expected, Object found) {
        return new CorruptionException(
                file.name(), fileOffset, what + " of a sorted run", expected, found.toString());
    }
}
