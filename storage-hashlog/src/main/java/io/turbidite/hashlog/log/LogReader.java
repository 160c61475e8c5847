package io.turbidite.hashlog.log;

import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Reads what lies at an address, from memory or from disk, verified.
 *
 * <p><em>Confined to one thread at a time.</em> What {@link #seek} shows stays until the next seek,
 * refresh or unprotect. The reader is protected while it looks at memory; a long scan refreshes
 * between records.
 *
 * <p>From disk it fetches whole blocks and verifies each against the page's header, which it
 * verifies and keeps; so a point read costs one block, and a range as many as it has. How much to
 * fetch beyond what is asked for is the scan's decision ({@link #prefetch}).
 */
public final class LogReader implements AutoCloseable {
    private static final int HEADER_COUNT = 8;
    private static final int BUFFER_BYTES_MIN = 64 << 10;

    private final HybridLog log;
    private final LogShape shape;
    private final EpochSession epoch;
    private final MemoryBudget.Account account;
    private final ReadTimes times;
    private final Crc32c crc = new Crc32c();
    private final @Nullable MemorySegment[] headers = new MemorySegment[HEADER_COUNT];
    private final long[] headerPages = new long[HEADER_COUNT];
    private @Nullable Arena arena;
    private MemorySegment buffer = MemorySegment.NULL;

    /** The addresses in {@link #buffer}: whole blocks of one page. */
    private long bufferStart;

    private long bufferEnd;

    private MemorySegment segment = MemorySegment.NULL;
    private long offset;
    private long blocksRead;

    /**
     * From here on what the log has is in memory, until the next refresh: the log's head as of the
     * last one. The head may have moved since; the frames above this one are still ours, as our
     * epoch is older.
     */
    private long head = Long.MAX_VALUE;

    private LogReader(HybridLog log, String name, ReadTimes times) {
        this.log = log;
        this.times = times;
        this.shape = log.shape();
        this.epoch = log.epochs().open(name);
        this.account = log.readers();
        Arrays.fill(headerPages, -1);
    }

    /** A reader that is not protected yet; {@code name} is shown if it stalls the others. */
    public static LogReader open(HybridLog log, String name) {
        return open(log, name, (byteCount, nanos) -> {});
    }

    /** The same; {@code times} hears how long reads from disk take. */
    public static LogReader open(HybridLog log, String name, ReadTimes times) {
        return new LogReader(log, name, times);
    }

    /**
     * A reader while nothing is appended, as in a recovery: it reads into a frame of the ring that
     * has no page, so that it needs no memory of its own.
     *
     * @param frame 0 to {@link LogShape#ringPageCount()} - 2; of readers at a time each has another
     */
    public static LogReader openInFrame(HybridLog log, String name, int frame) {
        LogReader reader = open(log, name);
        reader.buffer = log.ring().frame(log.shape().pageOf(log.tail()) + 1 + frame);
        return reader;
    }

    /** From here on what is in memory stays. */
    public void protect() {
        checkOpen();
        epoch.protect();
        head = log.head();
    }

    /** Lets go of what was read and goes on with what there is now. */
    public void refresh() {
        checkOpen();
        epoch.refresh();
        head = log.head();
    }

    /** Lets go of the pages: what was read must not be touched any more. */
    public void unprotect() {
        head = Long.MAX_VALUE;
        epoch.unprotect();
    }

    /** Whether it keeps pages from being recycled. */
    public boolean isProtected() {
        return epoch.isProtected();
    }

    /**
     * Shows {@code byteCount} bytes at {@code address}, all of one page, as {@link #segment} and
     * {@link #offset}.
     *
     * @throws InvalidRequestException if they were truncated
     * @throws CorruptionException if the disk has something else than was written
     */
    public void seek(long address, int byteCount) {
        if (address >= head) {
            checkOpen();
            segment = log.memory();
            offset = log.place(address);
            return;
        }
        if (address < bufferStart || address + byteCount > bufferEnd) {
            prefetch(address, address + byteCount);
        }
        segment = buffer;
        offset = address - bufferStart;
    }

    /** Whether {@link #seek} would find it in memory. */
    public boolean isInMemory(long address) {
        return address >= head;
    }

    /**
     * Starts loading what is at {@code address} into the cache, if it is in memory.
     *
     * @return anything; for the caller to keep, or the load would be left out
     */
    public long touch(long address) {
        return address >= head && !log.isClosed()
                ? log.memory().get(RecordHeader.WORD, log.place(address))
                : 0;
    }

    /** Whether {@link #seek} finds these bytes without touching the disk. */
    public boolean holds(long address, int byteCount) {
        return address >= head || (address >= bufferStart && address + byteCount <= bufferEnd);
    }

    /**
     * Fetches the blocks that hold addresses {@code from} to {@code to}, of one page and below the
     * safe tail, so that seeks within find them. Does nothing for what is in memory.
     */
    public void prefetch(long from, long to) {
        checkOpen();
        if (from >= head) {
            return;
        }
        SegmentFiles files = log.files();
        if (files == null || from < log.begin()) {
            throw gone(from);
        }
        long page = shape.pageOf(from);
        assert shape.pageOf(to - 1) == page : from + " to " + to;
        int start = shape.offsetOf(from) & -LogShape.BLOCK_BYTES;
        int end =
                (int) (to - shape.startOf(page) + LogShape.BLOCK_BYTES - 1) & -LogShape.BLOCK_BYTES;
        try {
            MemorySegment header = headerOf(files, page);
            bufferEnd = bufferStart;
            reserve(end - start);
            long before = log.site().clock().monotonicNanos();
            int byteCount = files.read(page, start, buffer, 0, end - start);
            times.note(byteCount, log.site().clock().monotonicNanos() - before);
            requireWhole(files, page, start, byteCount, end - start);
            for (int at = start; at < end; at += LogShape.BLOCK_BYTES) {
                PageHeader.checkBlock(
                        files.nameOf(page),
                        files.offsetOf(page),
                        header,
                        at / LogShape.BLOCK_BYTES,
                        buffer,
                        at - start,
                        shape.pageHeaderBytes(),
                        crc);
            }
            blocksRead += (end - start) / LogShape.BLOCK_BYTES;
        } catch (ClosedException e) {
            throw gone(from, e);
        }
        bufferStart = shape.startOf(page) + start;
        bufferEnd = shape.startOf(page) + end;
    }

    /** What holds the bytes that were sought. */
    public MemorySegment segment() {
        return segment;
    }

    /** Where in {@link #segment} they begin. */
    public long offset() {
        return offset;
    }

    /** The header word of the record at {@code address}, which is then sought. */
    public long headerAt(long address) {
        seek(address, RecordHeader.BYTES);
        return RecordHeader.loadAcquire(segment, offset);
    }

    /**
     * Shows the whole record at {@code address}.
     *
     * @return its header word
     * @throws CorruptionException if its length doesn't fit its page
     */
    public long seekRecord(long address) {
        long word = headerAt(address);
        long byteCount = RecordHeader.recordBytes(word);
        if (byteCount > shape.pageBytes() - shape.offsetOf(address)) {
            int most = shape.pageBytes() - shape.offsetOf(address);
            throw log.damaged(
                    address,
                    "record",
                    "of %d bytes at most".formatted(most),
                    "%d bytes long".formatted(byteCount));
        }
        seek(address, (int) byteCount);
        return word;
    }

    /** What to say of a word that can't be, at {@code address}. */
    public CorruptionException damaged(long address, String what, long word) {
        return log.damaged(address, what, "one that a record has", "0x%016x".formatted(word));
    }

    /** When the page's first and last records may have arrived, wall clock. */
    public PageHeader pageHeader(long page) {
        checkOpen();
        if (page >= shape.pageOf(log.head())) {
            return new PageHeader(
                    0, page, log.pageOpenedMicros(page), log.pageClosedMicros(page), 0, 0);
        }
        SegmentFiles files = log.files();
        if (files == null || shape.startOf(page + 1) <= log.begin()) {
            throw gone(shape.startOf(page));
        }
        return PageHeader.read(
                files.nameOf(page), files.offsetOf(page), headerOf(files, page), shape, page);
    }

    /** Blocks fetched from disk so far. */
    public long blocksRead() {
        return blocksRead;
    }

    private void checkOpen() {
        if (log.isClosed()) {
            throw new ClosedException("log " + log.site().name());
        }
    }

    /** The log that this reads. */
    public HybridLog log() {
        return log;
    }

    private MemorySegment headerOf(SegmentFiles files, long page) {
        int i = (int) (page % HEADER_COUNT);
        MemorySegment header = headers[i];
        if (header != null && headerPages[i] == page) {
            return header;
        }
        int headerBytes = shape.pageHeaderBytes();
        if (header == null) {
            header = MemorySegment.ofArray(new byte[headerBytes]);
            headers[i] = header;
        }
        headerPages[i] = -1;
        int byteCount = files.read(page, 0, header, 0, headerBytes);
        requireWhole(files, page, 0, byteCount, headerBytes);
        PageHeader.read(files.nameOf(page), files.offsetOf(page), header, shape, page)
                .checkOwner(files.nameOf(page), files.offsetOf(page), files.logId());
        headerPages[i] = page;
        return header;
    }

    private static void requireWhole(
            SegmentFiles files, long page, int from, int found, int expected) {
        if (found < expected) {
            throw PageHeader.damaged(
                    files.nameOf(page), files.offsetOf(page) + from, "page bytes", expected, found);
        }
    }

    private void reserve(int byteCount) {
        if (buffer.byteSize() >= byteCount) {
            return;
        }
        int wanted = Math.max(BUFFER_BYTES_MIN, Integer.highestOneBit(byteCount - 1) << 1);
        freeBuffer();
        if (!account.reserve(wanted)) {
            throw new InvalidRequestException(
                    "a read buffer of %d bytes does not fit the memory budget: %s"
                            .formatted(wanted, account));
        }
        Arena fresh = null;
        MemorySegment memory = null;
        try {
            fresh = NativeMemory.shared("a reader of a hash log");
            memory = NativeMemory.first(fresh, wanted, LogShape.BLOCK_BYTES);
        } finally {
            if (memory == null) {
                account.release(wanted);
            }
        }
        arena = fresh;
        buffer = memory;
    }

    private void freeBuffer() {
        Arena before = arena;
        if (before != null) {
            account.release(buffer.byteSize());
            arena = null;
            buffer = MemorySegment.NULL;
            crc.forget();
            before.close();
        }
        bufferEnd = bufferStart;
    }

    /** What to say of an address that was truncated. */
    public InvalidRequestException gone(long address) {
        return gone(address, null);
    }

    private InvalidRequestException gone(long address, @Nullable Throwable cause) {
        return new InvalidRequestException(
                "address %d of log %s is gone: it begins at %d"
                        .formatted(address, log.site().name(), log.begin()),
                cause);
    }

    @Override
    public void close() {
        epoch.close();
        freeBuffer();
    }
}
