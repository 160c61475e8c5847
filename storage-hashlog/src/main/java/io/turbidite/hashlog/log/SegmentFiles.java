package io.turbidite.hashlog.log;

import io.turbidite.core.file.DirectDisk;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The files of a log: segments of pages, and the marks of its newest page and of its begin.
 *
 * <p><em>Thread-safe for reading and syncing;</em> writing and deleting are the flusher's. A segment's header
 * and name are made durable before the first page in it is called durable.
 *
 * <p>With direct I/O new segments are created so, which suits them: pages, blocks and the first page's place are
 * multiples of 4 KiB, in the file and in memory. Readers then have handles of their own, whose reads may be of any
 * range. A segment that an earlier life began is written on through the page cache.
 */
final class SegmentFiles implements AutoCloseable {
    private static final String SUFFIX = ".pages";
    private static final String TAIL = "TAIL";

    private final Disk disk;
    private final String directory;
    private final long logId;
    private final LogShape shape;
    private final @Nullable DirectDisk direct;
    private final ConcurrentHashMap<Long, DiskFile> open = new ConcurrentHashMap<>();

    /** With direct I/O: handles of readers. */
    private final ConcurrentHashMap<Long, DiskFile> reading = new ConcurrentHashMap<>();

    private final MemorySegment markBuffer;
    private @Nullable DiskFile tailFile;
    private long markNumber;
    private final MemorySegment beginBuffer = MemorySegment.ofArray(new byte[BeginMark.BYTES]);
    private long beginNumber;

    SegmentFiles(Disk disk, String directory, long logId, LogShape shape) {
        this(disk, directory, logId, shape, null);
    }

    /**
     * @param direct reads past the page cache, and says whether new segments are to be written so; null: ordinary
     *     files. Closed by its owner, afterwards.
     */
    SegmentFiles(
            Disk disk, String directory, long logId, LogShape shape, @Nullable DirectDisk direct) {
        this.direct = direct;
        this.disk = disk;
        this.directory = directory;
        this.logId = logId;
        this.shape = shape;
        this.markBuffer = MemorySegment.ofArray(new byte[LogShape.BLOCK_BYTES]);
        disk.createDirectories(directory);
    }

    long logId() {
        return logId;
    }

    /** The segments there are, by number; other files are left alone. */
    List<Long> segments() {
        List<Long> numbers = new ArrayList<>();
        for (String name : disk.list(directory)) {
            if (name.matches("[0-9a-f]{8}\\" + SUFFIX)) {
                numbers.add(Long.parseLong(name.substring(0, 8), 16));
            }
        }
        return numbers;
    }

    String nameOf(long page) {
        return segmentName(shape.segmentOf(page));
    }

    /** Where {@code page} begins in its file. */
    long offsetOf(long page) {
        return SegmentHeader.BYTES + page % shape.segmentPageCount() * (long) shape.pageBytes();
    }

    // ---- writing --------------------------------------------------------------------------------

    /** Writes bytes {@code from} to {@code to} of the page in {@code frame} to its place. */
    void writePage(long page, MemorySegment frame, int from, int to) {
        fileToWrite(page).write(offsetOf(page) + from, frame, from, to - from);
    }

    /** Makes what was written of the pages' segments durable. */
    void sync(long firstPage, long lastPage) {
        for (long s = shape.segmentOf(firstPage); s <= shape.segmentOf(lastPage); s++) {
            Objects.requireNonNull(open.get(s)).sync();
        }
    }

    /** Makes durable that the newest page is durable so far. */
    void writeMark(long page, long firstArrivalMicros, int usedBytes, int pageChecksum) {
        putMark(page, firstArrivalMicros, usedBytes, pageChecksum).sync();
    }

    /**
     * Notes that all pages below {@code page} are durable. The note need not survive, so it isn't synced: it
     * tells a page that was damaged later from one that a power cut tore.
     */
    void noteSealed(long page) {
        putMark(page, 0, shape.pageHeaderBytes(), new Crc32c().begin().value());
    }

    /** Makes durable where the log begins from now on. */
    void writeBegin(long begin) {
        DiskFile file = tailToWrite();
        beginNumber++;
        new BeginMark(logId, beginNumber, begin).write(beginBuffer);
        file.write(BeginMark.slotOffset(beginNumber), beginBuffer, 0, BeginMark.BYTES);
        file.sync();
    }

    private DiskFile putMark(long page, long firstArrivalMicros, int usedBytes, int pageChecksum) {
        DiskFile file = tailToWrite();
        markNumber++;
        new TailMark(logId, markNumber, page, firstArrivalMicros, usedBytes, pageChecksum)
                .writeTwice(markBuffer);
        file.write(TailMark.slotOffset(markNumber), markBuffer, 0, LogShape.BLOCK_BYTES);
        return file;
    }

    private DiskFile tailToWrite() {
        DiskFile file = tailFile;
        if (file == null) {
            file = openTail();
            tailFile = file;
        }
        return file;
    }

    /**
     * Makes sure that nothing lies behind {@code end} which an earlier life of the log wrote and a later
     * recovery could take for its own, and that what lies before it is durable.
     *
     * @param from the first page that may not be durable
     */
    void cutBehind(long from, long end) {
        long page = shape.pageOf(end);
        long lastSegment = shape.segmentOf(page);
        boolean deleted = false;
        for (long segment : segments().reversed()) {
            if (segment > lastSegment) {
                delete(segment);
                deleted = true;
            } else if (segment >= shape.segmentOf(from)) {
                DiskFile file = open.computeIfAbsent(segment, s -> openSegment(s, disk::open));
                if (segment == lastSegment) {
                    int used = shape.offsetOf(end) == shape.pageHeaderBytes()
                            ? 0
                            : (shape.offsetOf(end) + LogShape.BLOCK_BYTES - 1)
                                    & -LogShape.BLOCK_BYTES;
                    if (file.size() > offsetOf(page) + used) {
                        file.truncate(offsetOf(page) + used);
                    }
                }
                file.sync();
            }
        }
        if (deleted) {
            disk.syncDirectory(directory);
        }
    }

    /** Deletes the segment; readers that have it open fail as closed. */
    void delete(long segment) {
        for (DiskFile file : new DiskFile[] {open.remove(segment), reading.remove(segment)}) {
            if (file != null) {
                file.close();
            }
        }
        String name = segmentName(segment);
        if (disk.exists(name)) {
            disk.delete(name);
        }
    }

    // ---- reading --------------------------------------------------------------------------------

    /** The newest mark, or null if there is none. */
    @Nullable
    TailMark readMark() {
        String name = directory + "/" + TAIL;
        if (!disk.exists(name)) {
            return null;
        }
        try (DiskFile file = disk.openReadOnly(name)) {
            checkTail(file);
            TailMark newest = null;
            MemorySegment slot = MemorySegment.ofArray(new byte[LogShape.BLOCK_BYTES]);
            for (int i = 0; i < 2; i++) {
                int byteCount = file.read(TailMark.slotOffset(i), slot, 0, LogShape.BLOCK_BYTES);
                TailMark mark = byteCount < LogShape.BLOCK_BYTES
                        ? null
                        : TailMark.readEither(slot, logId, shape);
                if (mark != null && (newest == null || mark.number() > newest.number())) {
                    newest = mark;
                }
            }
            return newest;
        }
    }

    /** Where the log begins by the newest mark of it; 0 if there is none. */
    long readBegin() {
        BeginMark newest = newestBegin();
        return newest == null ? 0 : newest.begin();
    }

    private @Nullable BeginMark newestBegin() {
        String name = directory + "/" + TAIL;
        if (!disk.exists(name)) {
            return null;
        }
        try (DiskFile file = disk.openReadOnly(name)) {
            checkTail(file);
            BeginMark newest = null;
            MemorySegment slot = MemorySegment.ofArray(new byte[BeginMark.BYTES]);
            for (int i = 0; i < 2; i++) {
                int byteCount = file.read(BeginMark.slotOffset(i), slot, 0, BeginMark.BYTES);
                BeginMark mark = byteCount < BeginMark.BYTES ? null : BeginMark.read(slot, logId);
                if (mark != null && (newest == null || mark.number() > newest.number())) {
                    newest = mark;
                }
            }
            return newest;
        }
    }

    /**
     * Reads bytes of {@code page} as they are on disk: the caller verifies them.
     *
     * @return how many there were
     */
    int read(long page, int from, MemorySegment target, long targetOffset, int byteCount) {
        return fileToRead(page).read(offsetOf(page) + from, target, targetOffset, byteCount);
    }

    // ---- helpers --------------------------------------------------------------------------------

    private String segmentName(long segment) {
        return "%s/%08x%s".formatted(directory, segment, SUFFIX);
    }

    private DiskFile fileToRead(long page) {
        DirectDisk past = direct;
        return past == null
                ? open.computeIfAbsent(shape.segmentOf(page), s -> openSegment(s, disk::open))
                : reading.computeIfAbsent(
                        shape.segmentOf(page), s -> openSegment(s, past::openReadOnly));
    }

    private DiskFile openSegment(long segment, Function<String, DiskFile> opening) {
        DiskFile file = opening.apply(segmentName(segment));
        boolean sound = false;
        try {
            SegmentHeader.of(logId, shape, segment).check(file);
            sound = true;
            return file;
        } finally {
            if (!sound) {
                file.close();
            }
        }
    }

    private DiskFile fileToWrite(long page) {
        long segment = shape.segmentOf(page);
        DiskFile file = open.get(segment);
        if (file == null) {
            String name = segmentName(segment);
            if (disk.exists(name)) {
                file = openSegment(segment, disk::open);
            } else {
                file = create(
                        name,
                        this::createSegment,
                        SegmentHeader.of(logId, shape, segment)::writeTo);
            }
            open.put(segment, file);
        }
        return file;
    }

    /** Past the page cache if that is wanted, and possible with blocks of ours. */
    private DiskFile createSegment(String name) {
        if (direct != null && direct.isDirect()) {
            DiskFile file = direct.createDirect(name);
            if (file != null && file.blockBytes() <= LogShape.BLOCK_BYTES) {
                return file;
            }
            if (file != null) {
                file.close();
                disk.delete(name);
            }
        }
        return disk.create(name);
    }

    /** A new file whose name appears with its header durable: a name without a sound header is damage. */
    private DiskFile create(
            String name, Function<String, DiskFile> creating, Consumer<DiskFile> header) {
        String unfinished = name + ".new";
        if (disk.exists(unfinished)) {
            disk.delete(unfinished);
        }
        DiskFile file = creating.apply(unfinished);
        boolean done = false;
        try {
            header.accept(file);
            file.sync();
            disk.rename(unfinished, name);
            disk.syncDirectory(directory);
            done = true;
            return file;
        } finally {
            if (!done) {
                file.close();
            }
        }
    }

    private DiskFile openTail() {
        String name = directory + "/" + TAIL;
        TailMark before = readMark();
        markNumber = before == null ? 0 : before.number();
        BeginMark begun = newestBegin();
        beginNumber = begun == null ? 0 : begun.number();
        return disk.exists(name)
                ? disk.open(name)
                : create(
                        name,
                        disk::create,
                        new FileHeader(TailMark.FORMAT, TailMark.VERSION, 0, logId, 0)::writeTo);
    }

    private void checkTail(DiskFile file) {
        FileHeader.readFrom(file)
                .check(file.name(), TailMark.FORMAT, TailMark.VERSION)
                .checkOwner(file.name(), logId, 0);
    }

    /** The open segments in order; for tests. */
    SortedMap<Long, DiskFile> openSegments() {
        return new TreeMap<>(open);
    }

    @Override
    public void close() {
        open.values().forEach(DiskFile::close);
        open.clear();
        reading.values().forEach(DiskFile::close);
        reading.clear();
        if (tailFile != null) {
            tailFile.close();
        }
    }
}
