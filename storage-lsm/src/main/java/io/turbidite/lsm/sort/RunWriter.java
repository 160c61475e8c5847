package io.turbidite.lsm.sort;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.version.StoreFiles;

import java.lang.foreign.MemorySegment;

/**
 * Writes a run file ({@link RunFormat}) in one pass, a chunk at a time.
 *
 * <p><em>Confined to one thread.</em> Owns the file until it is finished; closed before, it deletes it.
 */
final class RunWriter implements AutoCloseable {
    private final SortSite site;
    private final DiskFile file;
    private final long fileId;
    private final Crc32c crc = new Crc32c();
    private final MemorySegment chunk;
    private long fileOffset = FileHeader.BYTES;
    private int blockBytes = RunFormat.BLOCK_HEADER_BYTES;
    private int blockEntries;
    private int blockCount;
    private long entryCount;
    private boolean finished;

    private RunWriter(SortSite site, DiskFile file, long fileId) {
        this.site = site;
        this.file = file;
        this.fileId = fileId;
        this.chunk = site.chunks().take();
    }

    static RunWriter create(SortSite site) {
        long fileId = site.newFileId().getAsLong();
        String name = StoreFiles.sortRun(fileId);
        DiskFile file = site.disk().create(name);
        boolean created = false;
        try {
            new FileHeader(RunFormat.FORMAT, RunFormat.VERSION, 0, site.storeId(), fileId)
                    .writeTo(file);
            RunWriter writer = new RunWriter(site, file, fileId);
            created = true;
            return writer;
        } finally {
            if (!created) {
                file.close();
                Run.delete(site.disk(), name);
            }
        }
    }

    /** Adds the entry that the stream stands on; it must come behind all that were added. */
    void add(EntryStream entry) {
        int bytes = RunEntry.bytes(entry.key(), entry.value());
        if (blockBytes + bytes > chunk.byteSize()) {
            flush();
        }
        if (blockBytes + bytes > chunk.byteSize()) {
            addLarge(entry, bytes);
            return;
        }
        RunEntry.write(entry, chunk, blockBytes);
        blockBytes += bytes;
        blockEntries++;
    }

    /** A block of its own, which is not kept: large entries are rare. */
    private void addLarge(EntryStream entry, int bytes) {
        MemorySegment piece =
                site.chunks().takeOversized(RunFormat.BLOCK_HEADER_BYTES + (long) bytes);
        try {
            RunEntry.write(entry, piece, RunFormat.BLOCK_HEADER_BYTES);
            write(piece, RunFormat.BLOCK_HEADER_BYTES + bytes, 1);
        } finally {
            crc.forget();
            site.chunks().giveOversized(piece);
        }
    }

    private void flush() {
        if (blockEntries > 0) {
            write(chunk, blockBytes, blockEntries);
            blockBytes = RunFormat.BLOCK_HEADER_BYTES;
            blockEntries = 0;
        }
    }

    private void write(MemorySegment block, int bytes, int entries) {
        block.set(Bytes.I32, RunFormat.NUMBER_OFFSET, blockCount);
        block.set(Bytes.I64, RunFormat.FILE_ID_OFFSET, fileId);
        block.set(Bytes.I32, RunFormat.PAYLOAD_BYTES_OFFSET, bytes - RunFormat.BLOCK_HEADER_BYTES);
        block.set(Bytes.I32, RunFormat.ENTRY_COUNT_OFFSET, entries);
        int checksum =
                crc.compute(block, RunFormat.NUMBER_OFFSET, bytes - (long) RunFormat.NUMBER_OFFSET);
        block.set(Bytes.I32, RunFormat.CHECKSUM_OFFSET, checksum);
        file.write(fileOffset, block, 0, bytes);
        fileOffset += bytes;
        blockCount++;
        entryCount += entries;
    }

    /** Completes the file. */
    Run finish() {
        flush();
        MemorySegment tail =
                MemorySegment.ofArray(new byte[RunFormat.TOTAL_BYTES + FileFooter.BYTES]);
        tail.set(Bytes.I64, RunFormat.TOTAL_ENTRIES_OFFSET, entryCount);
        tail.set(Bytes.I32, RunFormat.TOTAL_BLOCKS_OFFSET, blockCount);
        int checksum = new Crc32c().compute(tail, 0, RunFormat.TOTAL_BYTES);
        new FileFooter(fileOffset, RunFormat.TOTAL_BYTES, checksum, site.storeId(), fileId)
                .write(tail, RunFormat.TOTAL_BYTES);
        file.write(fileOffset, tail, 0, (int) tail.byteSize());
        finished = true;
        return new Run(fileId, entryCount, blockCount, fileOffset + tail.byteSize());
    }

    @Override
    public void close() {
        crc.forget();
        site.chunks().give(chunk);
        file.close();
        if (!finished) {
            Run.delete(site.disk(), file.name());
        }
    }
}
