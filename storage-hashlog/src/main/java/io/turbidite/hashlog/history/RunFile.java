package io.turbidite.hashlog.history;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.hashlog.registry.HistoryRun;

import java.lang.foreign.MemorySegment;

/**
 * The file of a sorted run: hashes of properties and the addresses of their records, in the
 * envelope.
 *
 * <p><em>Confined to one thread.</em> All little-endian.
 *
 * <pre>
 * offset  bytes field
 *      0     64 {@link FileHeader}, format "hashlog-run", version 1, storeId = log's id, fileId = number
 *     64      8 from          the range of addresses that the run covers, inclusive
 *     72      8 to            exclusive
 *     80      8 entryCount
 *     88      4 psfId
 *     92        zeros up to 4096
 *   4096   4096 blocks, as many as the entries need
 *     ..     64 {@link FileFooter}; its payload is bytes 64 to 4095
 *
 * block: offset bytes field
 *             0     4 checksum     masked CRC32C of run number, block number (8 bytes each) and the rest
 *             4     4 entryCount   255 in all but the last
 *             8   16n entries: hash, address
 *                     zeros up to 4096
 * </pre>
 *
 * <p>Entries ascend by hash, unsigned, and then by address; a search reads some 4 KiB blocks, as
 * many as the number of blocks has bits.
 */
final class RunFile implements AutoCloseable {
    static final String FORMAT = "hashlog-run";
    static final int VERSION = 1;
    static final int BLOCK_BYTES = 4_096;
    static final int FROM_OFFSET = FileHeader.BYTES;
    static final int TO_OFFSET = FROM_OFFSET + 8;
    static final int ENTRY_COUNT_OFFSET = TO_OFFSET + 8;
    static final int PSF_OFFSET = ENTRY_COUNT_OFFSET + 8;
    static final int ZERO_OFFSET = PSF_OFFSET + 4;
    static final int CHECKSUM_OFFSET = 0;
    static final int COUNT_OFFSET = CHECKSUM_OFFSET + 4;
    static final int ENTRIES_OFFSET = COUNT_OFFSET + 4;
    static final int BLOCK_ENTRY_COUNT = (BLOCK_BYTES - ENTRIES_OFFSET) / RunEntries.ENTRY_BYTES;

    private final DiskFile file;
    private final long number;
    private final long entryCount;
    private final Crc32c crc = new Crc32c();
    private final MemorySegment buffer = MemorySegment.ofArray(new byte[BLOCK_BYTES]);
    private long loadedBlock = -1;

    private RunFile(DiskFile file, long number, long entryCount) {
        this.file = file;
        this.number = number;
        this.entryCount = entryCount;
    }

    private static long blockCount(long entryCount) {
        return (entryCount + BLOCK_ENTRY_COUNT - 1) / BLOCK_ENTRY_COUNT;
    }

    // ---- writing --------------------------------------------------------------------------------

    /** Sorts the entries and writes all of the file; durable when it returns, but for its name. */
    static void write(DiskFile file, long logId, HistoryRun run, int psfId, RunEntries entries) {
        entries.sort();
        MemorySegment block = MemorySegment.ofArray(new byte[BLOCK_BYTES]);
        new FileHeader(FORMAT, VERSION, 0, logId, run.number()).write(block, 0);
        block.set(Bytes.I64, FROM_OFFSET, run.from());
        block.set(Bytes.I64, TO_OFFSET, run.to());
        block.set(Bytes.I64, ENTRY_COUNT_OFFSET, entries.count());
        block.set(Bytes.I32, PSF_OFFSET, psfId);
        file.write(0, block, 0, BLOCK_BYTES);
        Crc32c crc = new Crc32c();
        int headBytes = BLOCK_BYTES - FileHeader.BYTES;
        FileFooter footer = new FileFooter(
                FileHeader.BYTES,
                headBytes,
                crc.compute(block, FileHeader.BYTES, headBytes),
                logId,
                run.number());
        long blocks = blockCount(entries.count());
        for (long b = 0; b < blocks; b++) {
            block.fill((byte) 0);
            int first = (int) b * BLOCK_ENTRY_COUNT;
            int count = Math.min(BLOCK_ENTRY_COUNT, entries.count() - first);
            block.set(Bytes.I32, COUNT_OFFSET, count);
            for (int i = 0; i < count; i++) {
                long at = ENTRIES_OFFSET + (long) i * RunEntries.ENTRY_BYTES;
                block.set(Bytes.I64, at + RunEntries.HASH_OFFSET, entries.hash(first + i));
                block.set(Bytes.I64, at + RunEntries.ADDRESS_OFFSET, entries.address(first + i));
            }
            block.set(Bytes.I32, CHECKSUM_OFFSET, checksum(crc, run.number(), b, block));
            file.write((b + 1) * BLOCK_BYTES, block, 0, BLOCK_BYTES);
        }
        footer.writeTo(file, (blocks + 1) * BLOCK_BYTES);
        file.sync();
    }

    private static int checksum(Crc32c crc, long number, long block, MemorySegment bytes) {
        return crc.begin()
                .updateLong(number)
                .updateLong(block)
                .update(bytes, COUNT_OFFSET, BLOCK_BYTES - COUNT_OFFSET)
                .value();
    }

    // ---- reading --------------------------------------------------------------------------------

    /**
     * Reads what the file says of itself; closes {@code file} if that is not what the registry
     * says.
     *
     * @throws CorruptionException if it is damaged, or another run's
     */
    static RunFile of(DiskFile file, long logId, HistoryRun run, int psfId) {
        try (Undo undo = Undo.of(file::close)) {
            return undo.keep(new RunFile(file, run.number(), check(file, logId, run, psfId)));
        }
    }

    /** The number of entries. */
    private static long check(DiskFile file, long logId, HistoryRun run, int psfId) {
        FileHeader header = FileHeader.readFrom(file).check(file.name(), FORMAT, VERSION);
        header.checkOwner(file.name(), logId, run.number());
        long fileBytes = file.size();
        FileFooter footer = FileFooter.readFrom(file).checkOwner(file.name(), fileBytes, header);
        int headBytes = BLOCK_BYTES - FileHeader.BYTES;
        require(file, 0, "payload offset", FileHeader.BYTES, footer.payloadOffset());
        require(file, 0, "payload bytes", headBytes, footer.payloadBytes());
        MemorySegment head = MemorySegment.ofArray(new byte[BLOCK_BYTES]);
        require(file, 0, "bytes", BLOCK_BYTES, file.read(0, head, 0, BLOCK_BYTES));
        footer.checkPayload(file.name(), head, FileHeader.BYTES);
        require(file, FROM_OFFSET, "from", run.from(), head.get(Bytes.I64, FROM_OFFSET));
        require(file, TO_OFFSET, "to", run.to(), head.get(Bytes.I64, TO_OFFSET));
        require(file, PSF_OFFSET, "PSF", psfId, head.get(Bytes.I32, PSF_OFFSET));
        for (int i = ZERO_OFFSET; i < BLOCK_BYTES; i++) {
            require(file, i, "padding", 0, head.get(Bytes.U8, i));
        }
        long count = head.get(Bytes.I64, ENTRY_COUNT_OFFSET);
        long blocks = (fileBytes - FileFooter.BYTES) / BLOCK_BYTES - 1;
        if (count < 0 || count > blocks * BLOCK_ENTRY_COUNT) {
            throw damaged(file, ENTRY_COUNT_OFFSET, "entries", blocks * BLOCK_ENTRY_COUNT, count);
        }
        long wanted = (blockCount(count) + 1) * BLOCK_BYTES + FileFooter.BYTES;
        require(file, ENTRY_COUNT_OFFSET, "file bytes", wanted, fileBytes);
        return count;
    }

    private static void require(DiskFile file, long at, String what, long expected, long found) {
        if (found != expected) {
            throw damaged(file, at, what, expected, found);
        }
    }

    private static CorruptionException damaged(
            DiskFile file, long at, String what, long expected, long found) {
        return new CorruptionException(
                file.name(), at, what, Long.toString(expected), Long.toString(found));
    }

    long entryCount() {
        return entryCount;
    }

    /** The hash of entry {@code index}. */
    long hash(long index) {
        return buffer.get(Bytes.I64, placeOf(index) + RunEntries.HASH_OFFSET);
    }

    /** The address of entry {@code index}. */
    long address(long index) {
        return buffer.get(Bytes.I64, placeOf(index) + RunEntries.ADDRESS_OFFSET);
    }

    /** Loads and verifies the block of the entry. */
    private long placeOf(long index) {
        long block = index / BLOCK_ENTRY_COUNT;
        if (block != loadedBlock) {
            loadedBlock = -1;
            long at = (block + 1) * BLOCK_BYTES;
            require(file, at, "bytes", BLOCK_BYTES, file.read(at, buffer, 0, BLOCK_BYTES));
            int stored = buffer.get(Bytes.I32, CHECKSUM_OFFSET);
            require(file, at, "block checksum", checksum(crc, number, block, buffer), stored);
            long count = Math.min(BLOCK_ENTRY_COUNT, entryCount - block * BLOCK_ENTRY_COUNT);
            require(file, at, "entries", count, buffer.get(Bytes.I32, COUNT_OFFSET));
            loadedBlock = block;
        }
        return ENTRIES_OFFSET + index % BLOCK_ENTRY_COUNT * RunEntries.ENTRY_BYTES;
    }

    /** Requires that entries ascend and are of the run's range. */
    void checkEntries(HistoryRun run) {
        long lastHash = 0;
        long lastAddress = -1;
        for (long i = 0; i < entryCount; i++) {
            long hash = hash(i);
            long address = address(i);
            int order = Long.compareUnsigned(hash, lastHash);
            if (order < 0 || (order == 0 && address <= lastAddress)) {
                throw damaged(file, 0, "entry " + i + " behind " + lastAddress, 1, address);
            }
            if (address < run.from() || address >= run.to()) {
                throw damaged(file, 0, "address of entry " + i, run.from(), address);
            }
            lastHash = hash;
            lastAddress = address;
        }
    }

    /** How many entries come before this hash and address. */
    long countBefore(long hash, long address) {
        long low = 0;
        long high = entryCount;
        while (low < high) {
            long middle = (low + high) >>> 1;
            int order = Long.compareUnsigned(hash(middle), hash);
            if (order < 0 || (order == 0 && address(middle) < address)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    @Override
    public void close() {
        file.close();
    }
}
