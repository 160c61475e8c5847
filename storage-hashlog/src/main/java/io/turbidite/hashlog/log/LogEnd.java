package io.turbidite.hashlog.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.Disk;
import io.turbidite.core.format.Crc32c;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Finds after a power cut how far the pages on disk can be read: all of them verify up to there.
 *
 * <p><em>Stateless.</em> In order:
 *
 * <ol>
 *   <li>the {@link BeginMark} says where the log begins;
 *   <li>pages are verified upwards, header and every block, until one is not sealed, torn or not
 *       there;
 *   <li>if the {@link TailMark} is of that page and its checksum holds, the page counts up to the
 *       mark;
 *   <li>if the page itself says that it was written further ({@link OpenPage}), and all of it
 *       agrees, it counts up to there: the mark is an older one, or a power cut came before the
 *       newer;
 *   <li>what lies behind was never reported durable, and {@link #settle} removes it. If the mark
 *       says that more was durable than can be read, that is damage and not a power cut. So it is
 *       if a page behind the end says that more was durable as it was written: mark and pages may
 *       be older ones that were put there.
 * </ol>
 *
 * <p>Without a sound mark there is no telling what was durable: that is damage ({@link TailFile}),
 * but in a log of an older release. Of such a log the newest page counts record by record as far as
 * that is safe, and nothing is cut.
 */
public final class LogEnd {
    /** Frames of a ring at least: pages below it never lay in a frame that held another. */
    private static final int RING_PAGE_COUNT_MIN = 4;

    private LogEnd() {}

    /** Makes the marks of a log that is about to be: whole and durable, before its registry is. */
    public static void prepare(LogSite site, LogShape shape, long logId) {
        if (site.disk() != null) {
            LogStart start = LogStart.fresh(logId, shape);
            TailFile.create(
                    site.disk(),
                    site.directory(),
                    start.mark(shape, 0),
                    new BeginMark(logId, 0, start.begin()));
        }
    }

    /**
     * Where the log goes on. Changes nothing.
     *
     * @param shape with the largest ring that the log was written with, as far as that is known
     * @param hasTail whether the log is one that always has its marks; else it is an older
     *     release's
     * @param verifiedTo pages below this address are taken to be sound, as a checkpoint says; its
     *     page and all above are verified
     * @throws CorruptionException if what was reported durable can't be read, or the marks can't
     */
    public static LogStart find(
            LogSite site, LogShape shape, long logId, boolean hasTail, long verifiedTo) {
        if (site.disk() == null) {
            return LogStart.fresh(logId, shape);
        }
        TailFile.Marks marks = TailFile.read(site.disk(), site.directory(), logId, shape, hasTail);
        try (SegmentFiles files = new SegmentFiles(site.disk(), site.directory(), logId, shape)) {
            long begin = beginOf(files, shape, marks.begin(), hasTail);
            TailMark mark = marks.tail();
            MemorySegment page = MemorySegment.ofArray(new byte[shape.pageBytes()]);
            Crc32c crc = new Crc32c();
            long p = shape.pageOf(Math.max(begin, verifiedTo));
            long lastArrival = 0;
            // the first one may be empty: the one before it says what it would
            PageHeader before =
                    p == shape.pageOf(begin) ? null : verify(files, shape, p - 1, page, crc);
            int registryNumber = before == null ? 0 : before.registryNumber();
            PageHeader header = verify(files, shape, p, page, crc);
            while (header != null) {
                lastArrival = header.lastArrivalMicros();
                registryNumber = Math.max(registryNumber, header.registryNumber());
                p++;
                header = verify(files, shape, p, page, crc);
            }
            if (mark == null) {
                LogStart start = unmarked(files, shape, begin, p, page, lastArrival);
                requireEnd(files, shape, start.tail(), crc);
                return start;
            }
            int usedBytes = shape.pageHeaderBytes();
            long arrival = lastArrival;
            if (mark.page() > p) {
                throw shortOf(files, shape, mark, p);
            }
            if (mark.page() == p) {
                requireMark(files, shape, mark, page, crc);
                usedBytes = mark.usedBytes();
                arrival = mark.firstArrivalMicros();
            }
            OpenPage open = OpenPage.read(page, shape, logId, p, crc);
            if (open != null
                    && open.usedBytes() > usedBytes
                    && open.isWhole(page, shape.pageHeaderBytes(), crc)) {
                usedBytes = open.usedBytes();
                arrival = open.firstArrivalMicros();
                begin = Math.max(begin, open.begin());
            }
            if (open != null) {
                registryNumber = Math.max(registryNumber, open.registryNumber());
            }
            requireEnd(files, shape, shape.startOf(p) + usedBytes, crc);
            boolean hasRecords = usedBytes > shape.pageHeaderBytes();
            return new LogStart(
                    logId,
                    begin,
                    shape.startOf(p) + usedBytes,
                    hasRecords ? page.asSlice(0, usedBytes) : null,
                    hasRecords ? arrival : lastArrival,
                    marks.tailsLost(),
                    registryNumber,
                    true);
        }
    }

    /**
     * Requires that no page behind the end was written when the log was durable further than that.
     *
     * @throws CorruptionException otherwise, or if a segment there can't be told
     */
    private static void requireEnd(SegmentFiles files, LogShape shape, long tail, Crc32c crc) {
        long end = shape.pageOf(tail);
        long first = shape.segmentOf(end);
        // from the newest on: it was written when most was durable
        for (long segment : files.segments().reversed()) {
            if (segment < first) {
                return;
            }
            long page = files.lastPageOf(segment);
            while (page > end && shape.segmentOf(page) == segment) {
                long durable = durableAt(files, shape, page, end, crc);
                if (durable > tail) {
                    throw new CorruptionException(
                            files.nameOf(end),
                            files.offsetOf(end),
                            "the end of the log",
                            "at %d or behind, which was durable when page %d in %s was written"
                                    .formatted(durable, page, files.nameOf(page)),
                            "at %d; this file and TAIL may be older ones: restore the newest"
                                    .formatted(tail));
                }
                page--;
            }
        }
    }

    /**
     * What was durable at least when page {@code p} behind the end was written, as far as that is
     * known.
     */
    private static long durableAt(
            SegmentFiles files, LogShape shape, long p, long end, Crc32c crc) {
        int headerBytes = shape.pageHeaderBytes();
        MemorySegment head = MemorySegment.ofArray(new byte[headerBytes]);
        if (files.read(p, 0, head, 0, headerBytes) < headerBytes) {
            return 0;
        }
        if (OpenPage.read(head, shape, files.logId(), p, crc) != null) {
            return shape.startOf(p); // the newest page is written when all below it is durable
        }
        PageHeader header = PageHeader.readIfSound(head, shape, p);
        if (header == null || header.logId() != files.logId()) {
            return 0;
        }
        boolean isOlder = header.durable() == 0;
        // of an older release: pages that lay in one frame, one after the other
        boolean neverTogether = p - end >= shape.ringPageCount();
        return isOlder && neverTogether ? shape.startOf(end + 1) : header.durable();
    }

    private static CorruptionException shortOf(
            SegmentFiles files, LogShape shape, TailMark mark, long p) {
        return new CorruptionException(
                files.nameOf(p),
                files.offsetOf(p),
                "page " + p,
                "sealed and whole, since TAIL says that the log ends in page %d at %d"
                        .formatted(mark.page(), shape.startOf(mark.page()) + mark.usedBytes()),
                "not");
    }

    /** Where the log begins. Segments below are deleted after the mark said so, and none above. */
    private static long beginOf(
            SegmentFiles files, LogShape shape, @Nullable BeginMark mark, boolean hasTail) {
        List<Long> segments = files.segments();
        long first = segments.isEmpty() ? 0 : segments.getFirst();
        long marked = mark == null ? 0 : mark.begin();
        if (hasTail && first > shape.segmentOf(shape.pageOf(marked))) {
            throw PageHeader.damaged(
                    files.nameOf(first * shape.segmentPageCount()),
                    0,
                    "the first segment",
                    shape.segmentOf(shape.pageOf(marked)),
                    first);
        }
        return Math.max(shape.firstRecordOf(first * shape.segmentPageCount()), marked);
    }

    /**
     * The end without a mark. Nothing vouches for the newest page's bytes, but that a writer put
     * whole blocks of one page there: so what looks like records is believed, up to its last block.
     * That one may end in what its frame held before, unless the frame was new.
     */
    private static LogStart unmarked(
            SegmentFiles files,
            LogShape shape,
            long begin,
            long newest,
            MemorySegment page,
            long lastArrival) {
        if (page.get(Bytes.I64, PageHeader.MAGIC_OFFSET) == PageHeader.MAGIC
                && page.get(Bytes.I64, PageHeader.PAGE_OFFSET) == newest) {
            throw PageHeader.damaged(
                    files.nameOf(newest), files.offsetOf(newest), "a sealed page", newest, 0);
        }
        int written = shape.pageBytes();
        while (written > 0 && page.get(Bytes.U8, written - 1L) == 0) {
            written--;
        }
        int limit = newest < RING_PAGE_COUNT_MIN
                ? shape.pageBytes() - RecordHeader.BYTES
                : Math.max(0, written - 1) & -LogShape.BLOCK_BYTES;
        int used = shape.pageHeaderBytes();
        int next = behindRecord(page, used);
        while (next > used && next <= limit) {
            used = next;
            next = behindRecord(page, used);
        }
        boolean hasRecords = used > shape.pageHeaderBytes();
        return new LogStart(
                files.logId(),
                begin,
                shape.startOf(newest) + used,
                hasRecords ? page.asSlice(0, used) : null,
                lastArrival,
                0,
                0,
                false);
    }

    /** Where the record at {@code at} ends; {@code at} if none can be there. */
    private static int behindRecord(MemorySegment page, int at) {
        if (at > page.byteSize() - RecordHeader.BYTES) {
            return at;
        }
        long word = page.get(Bytes.I64, at);
        long end = at + RecordHeader.recordBytes(word);
        return RecordHeader.isVisible(word) && end <= page.byteSize() ? (int) end : at;
    }

    /**
     * Makes the end that was found the log's, durably. To be called before the log goes on. What
     * lies before it is made durable, whatever became of earlier syncs of it; what lies behind is
     * removed: pages behind a torn one may be whole, and a later recovery that comes as far would
     * take them for its own. Then the marks say so.
     *
     * @param hasTail as given to {@link #find}, as {@code verifiedTo}
     * @throws io.turbidite.core.StoreInUseException if another process has the log open past its
     *     LOCK; nothing is changed
     * @throws CorruptionException if no mark vouches for the end and something lies behind it:
     *     nothing is cut
     */
    public static void settle(
            LogSite site, LogShape shape, LogStart start, boolean hasTail, long verifiedTo) {
        Disk disk = site.disk();
        if (disk == null) {
            return;
        }
        String directory = site.directory();
        TailFile.Marks marks = TailFile.read(disk, directory, start.logId(), shape, hasTail);
        TailMark before = marks.tail();
        BeginMark begun = marks.begin();
        try (SegmentFiles files =
                new SegmentFiles(disk, directory, start.logId(), shape, null, () -> {}, true)) {
            if (hasTail) {
                files.lockTail();
            }
            if (!start.marked()) {
                files.requireNothingBehind(start.tail());
            }
            if (before != null && before.address(shape) < start.tail()) {
                // the mark was written when what it says was durable
                files.writeAgain(Math.max(shape.pageOf(verifiedTo), before.page()), start.tail());
            }
            files.cutBehind(shape.pageOf(verifiedTo), start.tail());
            if (hasTail) {
                files.hardenMarks();
            }
            TailMark mark = start.mark(shape, before == null ? 1 : before.number() + 1);
            if (!hasTail) {
                long number = begun == null ? 1 : begun.number() + 1;
                BeginMark begin = new BeginMark(start.logId(), number, start.begin());
                TailFile.create(disk, directory, mark, begin);
            } else if (before == null || !mark.saysAs(before) || start.marksLost() > 0) {
                // into the other slot, where a mark may be damaged
                files.writeMark(
                        mark.page(),
                        mark.firstArrivalMicros(),
                        mark.usedBytes(),
                        mark.pageChecksum());
            }
        }
    }

    /**
     * The page's header if all of it is sound, else null; {@code target} then holds what there is.
     */
    private static @Nullable PageHeader verify(
            SegmentFiles files, LogShape shape, long page, MemorySegment target, Crc32c crc) {
        try {
            target.fill((byte) 0);
            if (files.read(page, 0, target, 0, shape.pageBytes()) < shape.pageBytes()) {
                return null; // torn, even where zeros are all that it lacks: readers want all of it
            }
            PageHeader header = PageHeader.read(
                            files.nameOf(page), files.offsetOf(page), target, shape, page)
                    .checkOwner(files.nameOf(page), files.offsetOf(page), files.logId());
            for (int block = 0; block < shape.blockCount(); block++) {
                PageHeader.checkBlock(
                        files.nameOf(page),
                        files.offsetOf(page),
                        target,
                        block,
                        target,
                        (long) block * LogShape.BLOCK_BYTES,
                        shape.pageHeaderBytes(),
                        crc);
            }
            return header;
        } catch (CorruptionException notSealed) {
            return null;
        } catch (StorageIoException missing) {
            if (missing.kind() == StorageIoException.Kind.NOT_FOUND) {
                return null;
            }
            throw missing;
        }
    }

    private static void requireMark(
            SegmentFiles files, LogShape shape, TailMark mark, MemorySegment page, Crc32c crc) {
        int headerBytes = shape.pageHeaderBytes();
        int computed = crc.compute(page, headerBytes, mark.usedBytes() - (long) headerBytes);
        if (computed != mark.pageChecksum()) {
            throw PageHeader.damaged(
                    files.nameOf(mark.page()),
                    files.offsetOf(mark.page()) + headerBytes,
                    "checksum up to the tail mark",
                    mark.pageChecksum(),
                    computed);
        }
    }
}
