package io.turbidite.lsm.sort;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.lsm.entry.EntryCursor;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Reads a run file ({@link RunFormat}) once, from first to last, a chunk at a time. It is a cursor because
 * {@code MergeCursor} merges cursors; the sort never seeks.
 *
 * <p><em>Confined to one thread.</em> Owns the open file and its buffers.
 */
final class RunCursor implements EntryCursor {
    private final SortSite site;
    private final Run run;
    private final DiskFile file;
    private final Crc32c crc = new Crc32c();
    private final MemorySegment chunk;
    private @Nullable MemorySegment largePiece;
    private MemorySegment block;
    private long fileOffset = FileHeader.BYTES;
    private int blockNumber;
    private int entriesLeft;
    private long entryAt;
    private long blockEnd;
    private final Slice key = new Slice();
    private final Slice value = new Slice();
    private long version;
    private boolean closed;

    private RunCursor(SortSite site, Run run, DiskFile file) {
        this.site = site;
        this.run = run;
        this.file = file;
        this.chunk = site.chunks().take();
        this.block = chunk;
    }

    /**
     * Opens a run and checks header and footer.
     *
     * @throws CorruptionException if they aren't those that were written
     */
    static RunCursor open(SortSite site, Run run) {
        DiskFile file = site.disk().openReadOnly(run.name());
        boolean opened = false;
        try {
            checkEnvelope(file, site.storeId(), run);
            RunCursor cursor = new RunCursor(site, run, file);
            opened = true;
            return cursor;
        } finally {
            if (!opened) {
                file.close();
            }
        }
    }

    private static void checkEnvelope(DiskFile file, long storeId, Run run) {
        FileHeader header = FileHeader.readFrom(file)
                .check(file.name(), RunFormat.FORMAT, RunFormat.VERSION)
                .checkOwner(file.name(), storeId, run.fileId());
        long fileBytes = file.size();
        FileFooter footer = FileFooter.readFrom(file).checkOwner(file.name(), fileBytes, header);
        long payloadAt = run.bytes() - FileFooter.BYTES - RunFormat.TOTAL_BYTES;
        if (fileBytes != run.bytes()
                || footer.payloadOffset() != payloadAt
                || footer.payloadBytes() != RunFormat.TOTAL_BYTES) {
            throw new CorruptionException(
                    file.name(),
                    fileBytes - FileFooter.BYTES,
                    "counts of a file",
                    "at %d of %d bytes".formatted(payloadAt, run.bytes()),
                    "at %d of %d bytes".formatted(footer.payloadOffset(), fileBytes));
        }
        MemorySegment totals = MemorySegment.ofArray(new byte[RunFormat.TOTAL_BYTES]);
        int got = file.read(payloadAt, totals, 0, RunFormat.TOTAL_BYTES);
        if (got == RunFormat.TOTAL_BYTES) {
            footer.checkPayload(file.name(), totals, 0);
        }
        long entries = totals.get(Bytes.I64, RunFormat.TOTAL_ENTRIES_OFFSET);
        int blocks = totals.get(Bytes.I32, RunFormat.TOTAL_BLOCKS_OFFSET);
        int zero = totals.get(Bytes.I32, RunFormat.TOTAL_ZERO_OFFSET);
        if (entries != run.entryCount() || blocks != run.blockCount() || zero != 0) {
            throw new CorruptionException(
                    file.name(),
                    payloadAt,
                    "counts",
                    "%d entries in %d blocks".formatted(run.entryCount(), run.blockCount()),
                    "%d entries in %d blocks".formatted(entries, blocks));
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
        long left = blockEnd - entryAt - RunFormat.KEY_OFFSET;
        int keyBytes = left < 0 ? -1 : block.get(Bytes.I32, entryAt + RunFormat.KEY_BYTES_OFFSET);
        int valueBytes =
                left < 0 ? -1 : block.get(Bytes.I32, entryAt + RunFormat.VALUE_BYTES_OFFSET);
        // the checksum is right, so this is a writer's fault; still no reason to read beyond the
        // block
        if (keyBytes < 0
                || valueBytes < 0
                || (long) keyBytes + valueBytes > left
                || (entriesLeft == 1 && (long) keyBytes + valueBytes != left)) {
            throw damaged("entry", "within " + left + " bytes", keyBytes + " and " + valueBytes);
        }
        version = block.get(Bytes.I64, entryAt + RunFormat.VERSION_OFFSET);
        key.set(block, entryAt + RunFormat.KEY_OFFSET, keyBytes);
        value.set(block, entryAt + RunFormat.KEY_OFFSET + keyBytes, valueBytes);
        entryAt += RunFormat.KEY_OFFSET + keyBytes + valueBytes;
        entriesLeft--;
        return true;
    }

    private void readBlock() {
        giveLargePiece();
        block = chunk;
        long blocksEnd = run.bytes() - FileFooter.BYTES - RunFormat.TOTAL_BYTES;
        int wanted = (int) Math.min(chunk.byteSize(), blocksEnd - fileOffset);
        int got = file.read(fileOffset, chunk, 0, wanted);
        if (got < RunFormat.BLOCK_HEADER_BYTES) {
            throw damaged("block " + blockNumber, "a header", got + " bytes");
        }
        // the length is needed for the checksum; it is bounded before anything is allocated
        int payloadBytes = chunk.get(Bytes.I32, RunFormat.PAYLOAD_BYTES_OFFSET);
        long payloadMax = Math.min(
                RunFormat.PAYLOAD_BYTES_MAX, blocksEnd - fileOffset - RunFormat.BLOCK_HEADER_BYTES);
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
        int number = block.get(Bytes.I32, RunFormat.NUMBER_OFFSET);
        long fileId = block.get(Bytes.I64, RunFormat.FILE_ID_OFFSET);
        entriesLeft = block.get(Bytes.I32, RunFormat.ENTRY_COUNT_OFFSET);
        if (number != blockNumber || fileId != run.fileId() || entriesLeft < 1) {
            throw damaged(
                    "block",
                    "block %d of file %d".formatted(blockNumber, run.fileId()),
                    "block %d of file %d, %d entries".formatted(number, fileId, entriesLeft));
        }
        entryAt = RunFormat.BLOCK_HEADER_BYTES;
        blockEnd = blockBytes;
        fileOffset += blockBytes;
        blockNumber++;
    }

    /** A block that doesn't fit the chunk: one large entry. */
    private void readLarge(int blockBytes) {
        MemorySegment piece = site.chunks().takeOversized(blockBytes);
        largePiece = piece;
        block = piece;
        int got = file.read(fileOffset, piece, 0, blockBytes);
        if (got < blockBytes) {
            throw damaged("block " + blockNumber, blockBytes + " bytes", got + " bytes");
        }
    }

    private void giveLargePiece() {
        MemorySegment piece = largePiece;
        if (piece != null) {
            largePiece = null;
            crc.forget();
            site.chunks().giveOversized(piece);
        }
    }

    private CorruptionException damaged(String what, String expected, String found) {
        return new CorruptionException(file.name(), fileOffset, what, expected, found);
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }

    @Override
    public Slice key() {
        return key;
    }

    @Override
    public long timestamp() {
        return version >>> 1;
    }

    @Override
    public boolean isAntimatter() {
        return (version & 1) != 0;
    }

    @Override
    public Slice value() {
        return value;
    }

    @Override
    public void seek(Slice target) {
        throw new UnsupportedOperationException("a run is read once, from its start");
    }

    @Override
    public void seekEnd() {
        throw new UnsupportedOperationException("a run is read once, from its start");
    }

    @Override
    public boolean previous() {
        throw new UnsupportedOperationException("a run is read once, from its start");
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            giveLargePiece();
            crc.forget();
            site.chunks().give(chunk);
            file.close();
        }
    }
}
