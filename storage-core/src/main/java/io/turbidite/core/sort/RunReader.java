package io.turbidite.core.sort;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Reads a run file ({@link RunFormat}) once, from first to last, a block at a time.
 *
 * <p><em>Confined to one thread.</em> Owns the open file and its buffers.
 */
final class RunReader implements SortedInput {
    private final RunStorage storage;
    private final Run run;
    private final DiskFile file;
    private final Crc32c crc = new Crc32c();
    private final MemorySegment buffer;
    private @Nullable MemorySegment large;
    private MemorySegment block;
    private long fileOffset = FileHeader.BYTES;
    private int blockNumber;
    private int entriesLeft;
    private long entryAt;
    private long blockEnd;
    private final Slice key = new Slice();
    private final Slice payload = new Slice();
    private long number;
    private boolean closed;

    private RunReader(RunStorage storage, Run run, DiskFile file) {
        this.storage = storage;
        this.run = run;
        this.file = file;
        this.buffer = storage.takeBuffer(storage.blockBytes());
        this.block = buffer;
    }

    /**
     * Opens a run and checks its header and size.
     *
     * @throws CorruptionException if they aren't those that were written
     */
    static RunReader open(RunStorage storage, Run run) {
        DiskFile file = storage.disk().openReadOnly(run.name());
        try (Undo undo = Undo.of(file::close)) {
            FileHeader.readFrom(file)
                    .check(file.name(), RunFormat.FORMAT, RunFormat.VERSION)
                    .checkOwner(file.name(), storage.ownerId(), run.number());
            long bytes = file.size();
            if (bytes != run.bytes()) {
                throw new CorruptionException(
                        file.name(), bytes, "size", run.bytes() + " bytes", bytes + " bytes");
            }
            return undo.keep(new RunReader(storage, run, file));
        }
    }

    @Override
    public boolean next() {
        if (entriesLeft == 0) {
            if (blockNumber == run.blockCount()) {
                return false;
            }
            readBlock();
        }
        long left = blockEnd - entryAt - EntryFormat.KEY_OFFSET;
        int keyBytes = left < 0 ? -1 : EntryFormat.keyBytes(block, entryAt);
        int payloadBytes = left < 0 ? -1 : EntryFormat.payloadBytes(block, entryAt);
        // the checksum is right, so this is a writer's fault; still no reason to read beyond the
        // block
        if (keyBytes < 0
                || payloadBytes < 0
                || (long) keyBytes + payloadBytes > left
                || (entriesLeft == 1 && (long) keyBytes + payloadBytes != left)) {
            throw damaged("entry", "within " + left + " bytes", keyBytes + " and " + payloadBytes);
        }
        number = EntryFormat.number(block, entryAt);
        key.set(block, entryAt + EntryFormat.KEY_OFFSET, keyBytes);
        payload.set(block, entryAt + EntryFormat.KEY_OFFSET + keyBytes, payloadBytes);
        entryAt += (long) EntryFormat.KEY_OFFSET + keyBytes + payloadBytes;
        entriesLeft--;
        return true;
    }

    private void readBlock() {
        block = buffer;
        int wanted = (int) Math.min(storage.blockBytes(), run.bytes() - fileOffset);
        int got = file.read(fileOffset, buffer, 0, wanted);
        if (got < RunFormat.BLOCK_HEADER_BYTES) {
            throw damaged("block " + blockNumber, "a header", got + " bytes");
        }
        // the length is needed for the checksum; it is bounded before anything is allocated
        int payloadBytes = buffer.get(Bytes.I32, RunFormat.PAYLOAD_BYTES_OFFSET);
        long payloadMax = Math.min(run.blockBytesMax(), run.bytes() - fileOffset)
                - RunFormat.BLOCK_HEADER_BYTES;
        if (payloadBytes < 0 || payloadBytes > payloadMax) {
            throw damaged(
                    "length of block " + blockNumber, "0 to " + payloadMax, "" + payloadBytes);
        }
        int blockBytes = RunFormat.BLOCK_HEADER_BYTES + payloadBytes;
        if (blockBytes > got) {
            readLarge(blockBytes);
        }
        int stored = block.get(Bytes.I32, RunFormat.CHECKSUM_OFFSET);
        int computed = crc.compute(
                block, RunFormat.NUMBER_OFFSET, blockBytes - (long) RunFormat.NUMBER_OFFSET);
        if (stored != computed) {
            throw damaged("checksum of block " + blockNumber, hex(computed), hex(stored));
        }
        int foundNumber = block.get(Bytes.I32, RunFormat.NUMBER_OFFSET);
        long fileId = block.get(Bytes.I64, RunFormat.FILE_ID_OFFSET);
        entriesLeft = block.get(Bytes.I32, RunFormat.ENTRY_COUNT_OFFSET);
        if (foundNumber != blockNumber || fileId != run.number() || entriesLeft < 1) {
            throw damaged(
                    "block",
                    "block %d of file %d".formatted(blockNumber, run.number()),
                    "block %d of file %d, %d entries".formatted(foundNumber, fileId, entriesLeft));
        }
        entryAt = RunFormat.BLOCK_HEADER_BYTES;
        blockEnd = blockBytes;
        fileOffset += blockBytes;
        blockNumber++;
    }

    /**
     * A block that doesn't fit the buffer: one large entry. The memory for it is that of the run's
     * largest block, and kept for the next one.
     */
    private void readLarge(int blockBytes) {
        MemorySegment piece = large;
        if (piece == null) {
            piece = storage.takeBuffer(run.blockBytesMax());
            large = piece;
        }
        block = piece;
        int got = file.read(fileOffset, piece, 0, blockBytes);
        if (got < blockBytes) {
            throw damaged("block " + blockNumber, blockBytes + " bytes", got + " bytes");
        }
    }

    private void giveLarge() {
        MemorySegment piece = large;
        if (piece != null) {
            large = null;
            storage.giveBuffer(piece);
        }
    }

    private CorruptionException damaged(String what, String expected, String found) {
        return new CorruptionException(
                file.name(), fileOffset, what + " of a sorted run", expected, found);
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }

    @Override
    public Slice key() {
        return key;
    }

    @Override
    public long number() {
        return number;
    }

    @Override
    public Slice payload() {
        return payload;
    }

    @Override
    public int sharedBytes() {
        return run.sharedBytes();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            crc.forget();
            giveLarge();
            storage.giveBuffer(buffer);
            file.close();
        }
    }
}
