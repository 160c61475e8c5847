package io.turbidite.hashlog.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
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
 *   <li>the {@link BeginMark} says where the log begins, or else its first segment does;
 *   <li>pages are verified upwards, header and every block, until one is not sealed, torn or not there;
 *   <li>if the {@link TailMark} is of that page and its checksum holds, the page counts up to the mark;
 *   <li>what lies behind was never reported durable, and {@link #cut} removes it. If the mark says that more
 *       was durable than can be read, that is damage and not a power cut.
 * </ol>
 */
public final class LogEnd {
    private LogEnd() {}

    /**
     * Where the log goes on.
     *
     * @param verifiedTo pages below this address are taken to be sound, as a checkpoint says; its page and
     *     all above are verified
     * @throws CorruptionException if what was reported durable can't be read
     */
    public static LogStart find(LogSite site, LogShape shape, long logId, long verifiedTo) {
        if (site.disk() == null) {
            return LogStart.fresh(logId, shape);
        }
        try (SegmentFiles files = new SegmentFiles(site.disk(), site.directory(), logId, shape)) {
            List<Long> segments = files.segments();
            TailMark mark = files.readMark();
            long first = segments.isEmpty() ? 0 : segments.getFirst() * shape.segmentPageCount();
            long begin = Math.max(shape.firstRecordOf(first), files.readBegin());
            MemorySegment page = MemorySegment.ofArray(new byte[shape.pageBytes()]);
            Crc32c crc = new Crc32c();
            long p = shape.pageOf(Math.max(begin, verifiedTo));
            long lastArrival = 0;
            PageHeader header = verify(files, shape, p, page, crc);
            while (header != null) {
                lastArrival = header.lastArrivalMicros();
                p++;
                header = verify(files, shape, p, page, crc);
            }
            if (mark != null && mark.page() == p) {
                requireMark(files, shape, mark, page, crc);
                MemorySegment used = page.asSlice(0, mark.usedBytes());
                return new LogStart(
                        logId,
                        begin,
                        shape.startOf(p) + mark.usedBytes(),
                        used,
                        mark.firstArrivalMicros());
            }
            if (mark != null && mark.page() > p) {
                throw PageHeader.damaged(
                        files.nameOf(p), files.offsetOf(p), "last sound page", mark.page(), p);
            }
            return new LogStart(logId, begin, shape.firstRecordOf(p), null, lastArrival);
        }
    }

    /**
     * Removes what lies behind the end that was found, and makes durable what lies before it. To be called
     * before the log goes on: pages behind a torn one may be whole, and a later recovery that comes as far
     * would take them for its own.
     *
     * @param verifiedTo as given to {@link #find}
     */
    public static void cut(LogSite site, LogShape shape, LogStart start, long verifiedTo) {
        if (site.disk() != null) {
            try (SegmentFiles files =
                    new SegmentFiles(site.disk(), site.directory(), start.logId(), shape)) {
                files.cutBehind(shape.pageOf(verifiedTo), start.tail());
            }
        }
    }

    /** The page's header if all of it is sound, else null; {@code target} then holds what there is. */
    private static @Nullable PageHeader verify(
            SegmentFiles files, LogShape shape, long page, MemorySegment target, Crc32c crc) {
        try {
            target.fill((byte) 0);
            files.read(page, 0, target, 0, shape.pageBytes());
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
