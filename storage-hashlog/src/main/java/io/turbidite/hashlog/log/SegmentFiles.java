package io.turbidite.hashlog.log;

import io.turbidite.core.Cleanup;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.StoreInUseException.Holder;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DirectDisk;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The files of a log: segments of pages, and the marks of its newest page and of its begin.
 *
 * <p><em>Thread-safe for reading and syncing;</em> writing and deleting are the flusher's. A
 * segment's header and name are made durable before the first page in it is called durable.
 *
 * <p>Of a log that is written, TAIL and the open segments are locked besides LOCK: whoever comes
 * into the directory past a deleted LOCK is refused before it changes anything.
 *
 * <p>With direct I/O new segments are created so, which suits them: pages, blocks and the first
 * page's place are multiples of 4 KiB, in the file and in memory. Readers then have handles of
 * their own, whose reads may be of any range. A segment that an earlier life began is written on
 * through the page cache.
 */
final class SegmentFiles implements AutoCloseable {
    private static final String SUFFIX = ".pages";

    private final Disk disk;
    private final String directory;
    private final long logId;
    private final LogShape shape;
    private final @Nullable DirectDisk direct;
    private final Runnable beforeSegment;
    private final boolean locking;
    private final ConcurrentHashMap<Long, DiskFile> open = new ConcurrentHashMap<>();

    /** With direct I/O: handles of readers. */
    private final ConcurrentHashMap<Long, DiskFile> reading = new ConcurrentHashMap<>();

    private volatile boolean closed;
    private volatile @Nullable TailFile tailFile;

    /** There are marks that were not synced. */
    private final AtomicBoolean noted = new AtomicBoolean();

    /** To read them. */
    SegmentFiles(Disk disk, String directory, long logId, LogShape shape) {
        this(disk, directory, logId, shape, null, () -> {}, false);
    }

    /**
     * @param direct reads past the page cache, and says whether new segments are to be written so;
     *     null: ordinary files. Closed by its owner, afterwards.
     * @param beforeSegment throws if no segment may be made
     * @param locking whether segments are locked while they are open; not with {@code direct},
     *     since what is locked must not be opened twice
     */
    SegmentFiles(
            Disk disk,
            String directory,
            long logId,
            LogShape shape,
            @Nullable DirectDisk direct,
            Runnable beforeSegment,
            boolean locking) {
        this.beforeSegment = beforeSegment;
        this.locking = locking && direct == null;
        this.direct = direct;
        this.disk = disk;
        this.directory = directory;
        this.logId = logId;
        this.shape = shape;
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

    /** The last page that the file has bytes of, or one less than its first. */
    long lastPageOf(long segment) {
        long first = segment * shape.segmentPageCount();
        long bytes = fileToRead(first).size() - SegmentHeader.BYTES;
        return first
                + Math.min(shape.segmentPageCount(), Math.ceilDiv(bytes, shape.pageBytes()))
                - 1;
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
        TailFile file = tailToWrite();
        file.putMark(page, firstArrivalMicros, usedBytes, pageChecksum);
        file.sync();
    }

    /**
     * Notes that all pages below {@code page} are durable: a page that was damaged later is told by
     * it from one that a power cut tore. Whoever waits for these pages does not wait for the note;
     * {@link #syncNotes} comes next.
     */
    void noteSealed(long page) {
        tailToWrite().putMark(page, 0, shape.pageHeaderBytes(), TailMark.NOTHING_CHECKSUM);
        noted.set(true);
    }

    /** Makes the notes so far durable. */
    void syncNotes() {
        TailFile file = tailFile;
        if (file != null && noted.getAndSet(false)) {
            try (Undo undo = Undo.of(() -> noted.set(true))) {
                file.sync();
                undo.keep();
            }
        }
    }

    /** Makes durable where the log begins from now on. */
    void writeBegin(long begin) {
        TailFile file = tailToWrite();
        file.putBegin(begin);
        file.sync();
    }

    /**
     * Locks TAIL until these files are closed.
     *
     * @throws StoreInUseException if another process has it: LOCK was deleted while that has the
     *     log open
     */
    void lockTail() {
        if (!tailToWrite().tryLock()) {
            throw new StoreInUseException(
                    disk.description() + "/" + directory, Holder.ANOTHER_PROCESS);
        }
    }

    /**
     * Makes durable what marks say of the log, and which files it has, whatever became of earlier
     * syncs.
     */
    void hardenMarks() {
        tailToWrite().writeAgain();
        disk.syncDirectory(directory);
    }

    /**
     * Writes the bytes from page {@code from} up to {@code end} once more, where they lie;
     * {@link #cutBehind} makes them durable. Memory may show what a failed sync has lost, and
     * another sync would not bring it back.
     */
    void writeAgain(long from, long end) {
        long last = shape.pageOf(end);
        MemorySegment bytes = MemorySegment.ofArray(new byte[shape.pageBytes()]);
        for (long page = from; page <= last; page++) {
            if (page < last || !isEmpty(end)) {
                DiskFile file = fileToWrite(page);
                int wanted = page < last ? shape.pageBytes() : blocksBelow(end);
                int count = file.read(offsetOf(page), bytes, 0, wanted);
                file.write(offsetOf(page), bytes, 0, count);
            }
        }
    }

    /** Bytes of the page up to {@code end}, in whole blocks. */
    private int blocksBelow(long end) {
        return (shape.offsetOf(end) + LogShape.BLOCK_BYTES - 1) & -LogShape.BLOCK_BYTES;
    }

    private void lock(DiskFile file) {
        if (locking && !file.tryLock()) {
            throw new StoreInUseException(
                    disk.description() + "/" + directory, Holder.ANOTHER_PROCESS);
        }
    }

    private synchronized TailFile tailToWrite() {
        TailFile file = tailFile;
        if (file == null) {
            file = TailFile.open(disk, directory, logId, shape);
            tailFile = file;
        }
        return file;
    }

    /**
     * Requires that nothing lies behind {@code end} but zeros up to the end of the file.
     *
     * @throws CorruptionException otherwise: no mark says that it may go
     */
    void requireNothingBehind(long end) {
        long page = shape.pageOf(end);
        List<Long> there = segments();
        if (!there.isEmpty() && there.getLast() > shape.segmentOf(page)) {
            throw behind(segmentName(there.getLast()), 0, "a segment");
        }
        if (there.contains(shape.segmentOf(page))) {
            DiskFile file = fileToRead(page);
            MemorySegment bytes = MemorySegment.ofArray(new byte[64 << 10]);
            long at = offsetOf(page) + (isEmpty(end) ? 0 : shape.offsetOf(end));
            for (int count = read(file, at, bytes); count > 0; count = read(file, at, bytes)) {
                for (int i = 0; i < count; i++) {
                    if (bytes.get(Bytes.U8, i) != 0) {
                        throw behind(file.name(), at + i, "bytes that are not zero");
                    }
                }
                at += count;
            }
        }
    }

    private static int read(DiskFile file, long at, MemorySegment into) {
        return file.read(at, into, 0, (int) into.byteSize());
    }

    private static CorruptionException behind(String name, long at, String found) {
        return new CorruptionException(
                name,
                at,
                "what lies behind the last record of a log without tail marks",
                "nothing; such a log can be read, not written",
                found);
    }

    /** Whether the page of this end has no record. */
    private boolean isEmpty(long end) {
        return shape.offsetOf(end) == shape.pageHeaderBytes();
    }

    /**
     * Makes sure that nothing lies behind {@code end} which an earlier life of the log wrote and a
     * later recovery could take for its own, and that what lies before it is durable. A segment
     * without a record goes, too: its name may be one that a failed sync has lost, and another sync
     * would not bring it back.
     *
     * @param from the first page that may not be durable
     */
    void cutBehind(long from, long end) {
        long page = shape.pageOf(end);
        boolean isBegun = !isEmpty(end) || page % shape.segmentPageCount() != 0;
        long lastSegment = shape.segmentOf(page) - (isBegun ? 0 : 1);
        boolean deleted = false;
        for (long segment : segments().reversed()) {
            if (segment > lastSegment) {
                delete(segment);
                deleted = true;
            } else if (segment >= shape.segmentOf(from)) {
                DiskFile file = open.computeIfAbsent(segment, s -> openSegment(s, disk::open));
                if (segment == shape.segmentOf(page)) {
                    int used = isEmpty(end) ? 0 : blocksBelow(end);
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
        if (closed) {
            return; // an epoch's action that came late: the directory may be another's, and the
            // next opening lists it
        }
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

    /**
     * Reads bytes of {@code page} as they are on disk: the caller verifies them.
     *
     * @return how many there were
     */
    int read(long page, int from, MemorySegment target, long targetOffset, int byteCount) {
        return fileToRead(page).read(offsetOf(page) + from, target, targetOffset, byteCount);
    }

    /** When the last record of a page came that is sealed, by its header. */
    long lastArrivalMicros(long page) {
        MemorySegment header = MemorySegment.ofArray(new byte[PageHeader.BLOCKS_OFFSET]);
        read(page, 0, header, 0, PageHeader.BLOCKS_OFFSET);
        return header.get(Bytes.I64, PageHeader.LAST_ARRIVAL_OFFSET);
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
        try (Undo undo = Undo.of(file::close)) {
            SegmentHeader.of(logId, shape, segment).check(file);
            lock(file);
            return undo.keep(file);
        }
    }

    private DiskFile fileToWrite(long page) {
        long segment = shape.segmentOf(page);
        DiskFile file = open.get(segment);
        if (file == null) {
            String name = segmentName(segment);
            if (disk.exists(name)) {
                file = openSegment(segment, disk::open);
                syncName(name); // its renaming may have been told as failed
            } else {
                beforeSegment.run();
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

    /**
     * A new file whose name appears with its header durable: a name without a sound header is
     * damage.
     *
     * @throws StoreFailedException if the name is there but maybe not durably: what is written
     *     behind it could be lost with it, and a second try would find it there and not know
     */
    private DiskFile create(
            String name, Function<String, DiskFile> creating, Consumer<DiskFile> header) {
        String unfinished = name + ".new";
        if (disk.exists(unfinished)) {
            disk.delete(unfinished);
        }
        DiskFile file = creating.apply(unfinished);
        try (Undo undo = Undo.of(file::close)) {
            lock(file);
            header.accept(file);
            file.sync();
            disk.rename(unfinished, name);
            syncName(name);
            return undo.keep(file);
        }
    }

    private void syncName(String name) {
        try {
            disk.syncDirectory(directory);
        } catch (RuntimeException | Error uncertain) {
            throw new StoreFailedException(
                    "the name of %s could not be made durable for sure: %s"
                            .formatted(name, uncertain.getMessage()),
                    uncertain);
        }
    }

    @Override
    public void close() {
        closed = true;
        Cleanup all = new Cleanup()
                .addAll(open.values(), DiskFile::close)
                .addAll(reading.values(), DiskFile::close);
        open.clear();
        reading.clear();
        TailFile marks = tailFile;
        if (marks != null) {
            all.add(marks::close);
        }
        all.run();
    }
}
