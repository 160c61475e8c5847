package io.turbidite.hashlog.log;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.Undo;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.file.DirectDisk;
import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.StoreEvent;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One address space over memory and disk (FISH19 §4.1, appendix C).
 *
 * <p><em>Thread-safe.</em> Owns the ring, the files and the flusher; closed by the hash log.
 * Sessions append ({@link LogSession}), readers read ({@link LogReader}), the flusher moves pages
 * to disk.
 *
 * <pre>
 *   0 ... begin ........ head ........ durable ........ safe tail ..... tail
 *   gone  | on disk only  | in memory and on disk | in memory only | being written
 * </pre>
 *
 * <ol>
 *   <li>{@code begin <= head <= durable <= safe tail <= tail}, and each only grows. The null device
 *       has no durable address: head follows the safe tail, begin follows head.
 *   <li>Nothing below the safe tail changes, chain links included: a link is only swung by a
 *       session that inserts a record with a lower address than the link's, and that record is
 *       still in flight.
 *   <li>A frame is given to page {@code p} when the safe head is above page
 *       {@code p - ringPageCount}: head is published, then every epoch that could have read the old
 *       head has passed.
 * </ol>
 */
public final class HybridLog implements AutoCloseable {
    private final LogOptions options;
    private final LogShape shape;
    private final LogSite site;
    private final Epochs epochs;
    private final InFlight inFlight;
    private final Ring ring;
    private final Tail tail;
    private final @Nullable DirectDisk direct;
    private final @Nullable SegmentFiles files;
    private final PageTurns pages;
    private final Flusher flusher;
    private final MemoryBudget.Account readers;
    private final AtomicLong safeTail;
    private final AtomicLong begin;
    private final LogLife life;
    private final int marksLost;

    /** The newest page had no record when the log was opened. */
    private final boolean emptyPage;

    private final DeletedRecords deleted = new DeletedRecords();
    private volatile long durable;
    private volatile @Nullable LogTime time;
    /** The newest time that the log has noted, in a page's header or by a {@link TimeMark}. */
    private final AtomicLong notedMicros = new AtomicLong();

    private volatile int registryNumber;

    private HybridLog(
            LogSite site, LogOptions options, LogStart start, Epochs epochs, boolean readOnly) {
        this.site = site;
        this.life = new LogLife(site, readOnly);
        this.options = options;
        this.shape = options.shape();
        this.epochs = epochs;
        this.inFlight = new InFlight(options.sessionCountMax());
        this.ring = Ring.create(shape, site.budget().account("log " + site.name()));
        try (Undo undo = Undo.of(ring::close)) {
            Disk disk = site.disk();
            this.direct = disk == null || !options.directIo() ? null : directDisk(site, disk);
            this.files = disk == null
                    ? null
                    : new SegmentFiles(
                            disk,
                            site.directory(),
                            start.logId(),
                            shape,
                            direct,
                            this::checkLock,
                            !readOnly);
            undo.keep();
        }
        this.readers = site.budget().account("readers of log " + site.name());
        this.tail = new Tail(shape, ring, start.tail());
        long page = shape.pageOf(start.tail());
        this.safeTail = new AtomicLong(start.tail());
        this.begin = new AtomicLong(start.begin());
        this.durable = start.tail();
        start.fill(ring, page, site.clock().wallMicros());
        this.emptyPage = start.newestPage() == null;
        this.marksLost = start.marksLost();
        this.pages = new PageTurns(this, tail, page);
        this.flusher = new Flusher(this, site, options, files);
    }

    /** A registry of this number is durable: pages that are written from now on name it. */
    public void registryNumber(int number) {
        registryNumber = number;
    }

    /** Of the newest registry that is durable; pages name no other. */
    public int registryNumber() {
        return registryNumber;
    }

    /** By the page before {@code page}, which has no record; if there is none, the clock's. */
    private long lastArrival(long page) {
        SegmentFiles from = files;
        long now = site.clock().wallMicros();
        return from == null || shape.startOf(page) <= begin.get()
                ? now
                : Math.min(now, from.lastArrivalMicros(page - 1));
    }

    private static DirectDisk directDisk(LogSite site, Disk disk) {
        DirectDisk direct = new DirectDisk(
                disk,
                site.budget().account("direct I/O of log " + site.name()),
                () -> site.events()
                        .publish(new StoreEvent.DirectIoRefused(
                                site.clock().wallMicros(), disk.description())));
        site.meters()
                .scope("log", site.name())
                .gauge("hashlog.disk.direct", () -> direct.isDirect() ? 1 : 0);
        return direct;
    }

    /**
     * A log that goes on at {@code start}, with its flusher started. Pages below the start's are on
     * disk.
     *
     * @throws io.turbidite.core.InvalidRequestException if the ring does not fit the memory budget
     */
    public static HybridLog open(LogSite site, LogOptions options, LogStart start, Epochs epochs) {
        return started(new HybridLog(site, options, start, epochs, false));
    }

    /** The same for a log that takes nothing and changes no file. */
    public static HybridLog openForReading(
            LogSite site, LogOptions options, LogStart start, Epochs epochs) {
        return started(new HybridLog(site, options, start, epochs, true));
    }

    private static HybridLog started(HybridLog log) {
        try (Undo undo = Undo.of(log::close)) {
            long page = log.tail.page();
            log.noteTime(log.emptyPage ? log.lastArrival(page) : log.ring.openedMicros(page));
            log.flusher.start();
            return undo.keep(log);
        }
    }

    // ---- what it is
    // ------------------------------------------------------------------------------

    /** Its pages, ring and segments. */
    public LogShape shape() {
        return shape;
    }

    /** How it behaves. */
    public LogOptions options() {
        return options;
    }

    /** What keeps pages from being recycled under readers. */
    public Epochs epochs() {
        return epochs;
    }

    /** Where it lies, and what it uses. */
    public LogSite site() {
        return site;
    }

    /**
     * Of what lies at {@code address} and can't be: names its file and the place there, or the log
     * in memory.
     */
    CorruptionException damaged(long address, String what, String expected, String found) {
        SegmentFiles of = files;
        if (of == null) {
            return new CorruptionException(site.name(), address, what, expected, found);
        }
        long page = shape.pageOf(address);
        return new CorruptionException(
                of.nameOf(page),
                of.offsetOf(page) + shape.offsetOf(address),
                what + " at address " + address,
                expected,
                found);
    }

    /**
     * Slots in TAIL, of two, whose mark was damaged when the log was opened. The newest mark may
     * have been in it: the newest page speaks for itself, unless it is an older release's or
     * damaged too.
     */
    public int marksLost() {
        return marksLost;
    }

    /** Whether what leaves memory is gone. */
    public boolean isNullDevice() {
        return files == null;
    }

    // ---- addresses
    // -------------------------------------------------------------------------------

    /** The smallest address that may still be read. */
    public long begin() {
        return begin.get();
    }

    /**
     * The smallest address in memory. What a session reads at or above it stays in memory until the
     * session refreshes or unprotects: protect first, then ask.
     */
    public long head() {
        return Math.max(begin.get(), shape.firstRecordOf(pages.head()));
    }

    /** Everything below is on disk and survives a power cut; the safe tail on the null device. */
    public long durable() {
        return files == null ? safeTail() : durable;
    }

    /**
     * Everything below is visible and never changes: scans end here (the original's full scan steps
     * into records that are being written).
     */
    public long safeTail() {
        long bound = inFlight.smallest(tail.address());
        long before = safeTail.get();
        while (bound > before && !safeTail.compareAndSet(before, bound)) {
            before = safeTail.get();
        }
        return Math.max(bound, before);
    }

    /** The records that were deleted since; their bytes stay where they are. */
    public DeletedRecords deleted() {
        return deleted;
    }

    /** The address behind everything allocated. */
    public long tail() {
        return tail.address();
    }

    /** When the page's first record may have arrived, wall clock; the page is in memory. */
    public long pageOpenedMicros(long page) {
        return ring.openedMicros(page);
    }

    /** When the page's last record may have arrived, wall clock; the page is in memory. */
    public long pageClosedMicros(long page) {
        return page == tail.page() ? nowMicros() : ring.closedMicros(page);
    }

    /**
     * Wall clock, but not before what the log has noted: times ascend with addresses, also if the
     * clock jumps back.
     */
    public long nowMicros() {
        return Math.max(site.clock().wallMicros(), notedMicros.get());
    }

    /**
     * The newest time that was noted: records that come may be told from older ones from there on.
     */
    public long notedMicros() {
        return notedMicros.get();
    }

    /** A mark of this time is in the log, or about to be. */
    public void noteTime(long micros) {
        notedMicros.accumulateAndGet(micros, Math::max);
    }

    // ---- memory
    // ----------------------------------------------------------------------------------

    /** The ring; {@link #place} says where in it an address lies. */
    public MemorySegment memory() {
        return ring.memory();
    }

    /** Where {@code address} lies in {@link #memory()}, if it is in memory. */
    public long place(long address) {
        return ring.offsetOf(address);
    }

    // ---- sessions and waiting
    // --------------------------------------------------------------------

    /** A session that appends; {@code name} is shown if it stalls the others. */
    public LogSession openSession(String name) {
        checkWritable();
        return new LogSession(this, epochs.open(name), inFlight, tail, name);
    }

    /**
     * Blocks until {@code address} is durable, which this asks for; at once on the null device.
     *
     * @throws StorageIoException of kind NO_SPACE if the disk stays full: what is not durable yet
     *     becomes so once there is space, and is lost if the log is closed before; or if waits were
     *     ended
     */
    public void awaitDurable(long address) {
        if (files == null || durable >= address) {
            return;
        }
        int refusals = flusher.refusalCount();
        flusher.request(address);
        site.tasks()
                .await(() -> durable >= address
                        || life.isFailed()
                        || isEnding()
                        || flusher.isHopeless(refusals));
        if (durable < address) {
            checkUsable();
            throw flusher.givenUp(
                    "making the log durable",
                    "%d bytes are in memory alone until there is space, and lost if the log is closed before"
                            .formatted(address - durable));
        }
    }

    /**
     * From then on no call waits for the device: what waits now ends within {@code micros}, and so
     * does a close, which then says how much is lost. For a user who wants the process to end.
     * There is no way back.
     */
    public void endWaitsWithin(long micros) {
        life.endWaitsWithin(micros);
    }

    long waitsEndNanos() {
        return life.waitsEndNanos();
    }

    /** Whether waits were ended: work that only saves time later is left out. */
    public boolean isHurried() {
        return life.isHurried();
    }

    /**
     * Drops everything below {@code address}, whole segments from disk, and returns when that is
     * durable. Readers that are there fail as if they had asked for a lower address than
     * {@link #begin()}.
     *
     * @param address where a record starts; no more than the durable address is dropped
     */
    public void truncate(long address) {
        checkWritable();
        if (files == null) {
            moveBegin(Math.min(address, head()));
            return;
        }
        long target = Math.min(address, durable);
        flusher.requestBegin(target);
        int refusals = flusher.refusalCount();
        site.tasks()
                .await(() -> begin() >= target
                        || life.isFailed()
                        || isEnding()
                        || flusher.isHopeless(refusals)
                        || flusher.refusalCount() > refusals + 1);
        if (begin() < target) {
            checkUsable();
            throw flusher.givenUp(
                    "truncating",
                    "there is no space to note where it begins: truncate again later");
        }
    }

    /**
     * Requires that the log takes records.
     *
     * @throws StoreFailedException if writing or syncing failed before; the first cause is its
     *     cause
     * @throws ClosedException after {@link #close()}
     */
    public void checkUsable() {
        life.checkUsable();
    }

    /**
     * Requires that nothing failed before which only reopening mends.
     *
     * @throws StoreFailedException otherwise; the first cause is its cause
     */
    public void checkUnfailed() {
        life.checkUnfailed();
    }

    /**
     * The log is whole, and its owner takes it over: retention by age begins.
     *
     * @param held the lock of the directory, which the log looks after; null without a disk
     * @throws io.turbidite.core.StoreInUseException if another process has its files open to write
     *     them
     */
    public void begin(Disk.@Nullable Lock held) {
        SegmentFiles of = files;
        if (of != null && !life.isReadOnly()) {
            of.lockTail();
        }
        life.begin(held);
        time = new LogTime(notedMicros(), site.clock().monotonicNanos());
    }

    /** What time it is at least, by the log; null until {@link #begin}. */
    @Nullable
    LogTime time() {
        return time;
    }

    /**
     * Looks whether the directory's lock still keeps others out. A log that is only read changes
     * nothing, so it goes on in any case.
     *
     * @throws StoreFailedException if its file is gone or another one; the log takes nothing from
     *     now on
     * @throws StorageIoException if that can't be found out
     */
    public void checkLock() {
        life.checkLock();
    }

    /** Ends all waits, and refuses new ones, until {@link #allowWaits}. */
    public void endWaits() {
        life.endWaits();
    }

    /** What is left to do before the log is closed may wait again. */
    public void allowWaits() {
        life.allowWaits();
    }

    /** Whether whoever waits for the log waits in vain: it is closed, or about to be. */
    public boolean isEnding() {
        return life.isEnding();
    }

    /** Whether its memory is gone. */
    boolean isClosed() {
        return life.isClosed();
    }

    /**
     * Requires that this thread is none that closing has to wait for.
     *
     * @throws InvalidRequestException if a listener of the log's own events closes it
     */
    public void requireOtherThread() {
        if (flusher.isStepping(Thread.currentThread())) {
            throw new InvalidRequestException(
                    "a listener of events can't close log %s on the log's own thread: hand it to another"
                            .formatted(site.name()));
        }
    }

    /**
     * Requires that the log was opened to be written, and takes records.
     *
     * @throws InvalidRequestException if it was opened for reading
     */
    public void checkWritable() {
        life.checkWritable();
    }

    /** Whether it was opened for reading: no file of it changes. */
    public boolean isReadOnly() {
        return life.isReadOnly();
    }

    /** Whether background work met an error that only reopening mends. */
    public boolean isFailed() {
        return life.isFailed();
    }

    /**
     * Stops the flusher after it made everything visible durable; frees the memory.
     *
     * @throws StoreFailedException if the disk is full, or waits were ended
     *     ({@link #endWaitsWithin}), so that the newest records are lost; all is freed
     */
    @Override
    public void close() {
        if (life.isClosed()) {
            return;
        }
        long wanted = safeTail();
        Cleanup all = new Cleanup();
        if (files != null) {
            all.add(() -> flushLast(files, wanted));
        }
        all.add(life::close).add(flusher::close);
        if (files != null) {
            all.add(files::close);
        }
        if (direct != null) {
            all.add(direct::close);
        }
        all.add(ring::close).run();
        if (files != null && durable < wanted && !life.isFailed()) {
            throw new StoreFailedException(
                    "log %s was closed %s: its newest %d bytes are lost"
                            .formatted(
                                    site.name(),
                                    flusher.isPaused()
                                            ? "on a full disk"
                                            : "before the device had taken all of it",
                                    wanted - durable),
                    null);
        }
    }

    private void flushLast(SegmentFiles to, long wanted) {
        int refusals = flusher.refusalCount();
        flusher.request(wanted);
        flusher.retryNow();
        // A second refusal began after the request: the first may have been under way.
        site.tasks()
                .await(() -> durable >= wanted
                        || life.isFailed()
                        || flusher.refusalCount() > refusals + 1
                        || site.clock().monotonicNanos() >= life.waitsEndNanos());
        if (!life.isFailed()) {
            to.syncNotes();
        }
    }

    // ---- for the room
    // ----------------------------------------------------------------------------

    Ring ring() {
        return ring;
    }

    /** What readers take their buffers from: one account, since budgets keep accounts for good. */
    MemoryBudget.Account readers() {
        return readers;
    }

    @Nullable
    SegmentFiles files() {
        return files;
    }

    void moveBegin(long address) {
        begin.accumulateAndGet(address, Math::max);
    }

    void durable(long address) {
        assert address >= durable : address + " after " + durable;
        durable = address;
    }

    /**
     * The log takes nothing from now on: only reopening tells what is on disk. The first cause
     * counts.
     */
    public void fail(RuntimeException cause) {
        life.fail(cause);
    }

    Flusher flusher() {
        return flusher;
    }

    PageTurns pages() {
        return pages;
    }

    @Override
    public String toString() {
        return "HybridLog[%s: begin %d, head %d, durable %d, safe tail %d, tail %d]"
                .formatted(site.name(), begin(), head(), durable(), safeTail(), tail());
    }
}
