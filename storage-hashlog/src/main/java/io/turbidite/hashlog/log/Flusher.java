package io.turbidite.hashlog.log;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Moves pages to disk in order, makes the newest one durable from time to time, frees frames, and
 * drops what is not retained; whole pages are made durable by {@link PageSyncs} beside it. One
 * worker of {@link Tasks}; a step is bounded.
 *
 * <p><em>Confined to its worker,</em> but for {@link #request}, {@link #wake} and
 * {@link #awaitTurn}.
 *
 * <p>Failures: no space pauses it (an event), and it tries again at each idle tick; any other
 * failure of a write and every failure of a sync fails the log (D6).
 */
final class Flusher implements AutoCloseable {
    /** Pages written in a step: not so many that what was synced meanwhile is told late. */
    private static final int PAGE_COUNT_MAX = 4;

    /** Where something is looked at again. */
    private static final long IDLE_MICROS = 1_000;

    /** Where all that may come wakes it, or may wait: a full page, a request, a waiting session. */
    private static final long REST_MICROS = 100_000;

    /** Between two tries on a full disk: each computes checksums of what it wants to write. */
    private static final long RETRY_MICROS = 100_000;

    /**
     * A disk that has refused for so long is not waited for any longer: somebody has to make room.
     */
    private static final long SPACE_MICROS_MAX = 10_000_000;

    /** Between two looks at what is to be dropped: it lists a directory. */
    private static final long RETAIN_MICROS = 50_000;

    /**
     * Between two looks at the file of the directory's lock: it is looked at each second at least.
     */
    private static final long LOCK_MICROS = 500_000;

    /** So much the clock may be ahead of the log, and hold something back, without an event. */
    private static final long AHEAD_MICROS = 3_600_000_000L;

    private final HybridLog log;
    private final LogSite site;
    private final LogOptions options;
    private final LogShape shape;
    private final @Nullable SegmentFiles files;
    private final Crc32c crc = new Crc32c();
    private final AtomicLong wanted = new AtomicLong();
    private final Counter pagesWritten;
    private final Counter bytesWritten;
    private final Counter stalls;
    private final Counter stallNanos;
    private final Counter sessionStalls;
    private final AtomicLong wantedBegin = new AtomicLong();
    private Tasks.@Nullable Worker worker;
    private @Nullable PageSyncs syncs;

    /** Pages below it were written, sealed. */
    private long writtenPage;

    /** The page whose frame begins with checksums of all its durable blocks. */
    private long openPage = -1;

    private long lastFlushNanos;
    private long lastStallNanos;
    private long lastRetainNanos;
    private long lastLockNanos;

    /** It was told that the clock is ahead of the log. */
    private boolean heldBack;

    private volatile long retryNanos;
    private final AtomicInteger refusalCount = new AtomicInteger();

    /** For a free page. */
    private final AtomicInteger sessionsWaiting = new AtomicInteger();

    private volatile boolean paused;

    /** Since when the disk has refused everything. */
    private volatile long pausedNanos;

    private volatile @Nullable StorageIoException refusal;

    /** Segments below the log's begin whose readers are waited for. */
    private final Set<Long> leaving = ConcurrentHashMap.newKeySet();

    private volatile @Nullable Thread stepping;

    Flusher(HybridLog log, LogSite site, LogOptions options, @Nullable SegmentFiles files) {
        this.log = log;
        this.site = site;
        this.options = options;
        this.shape = options.shape();
        this.files = files;
        var meters = site.meters().scope("log", site.name());
        this.pagesWritten = meters.counter("hashlog.flush.pages");
        this.bytesWritten = meters.counter("hashlog.flush.bytes");
        this.stalls = meters.counter("hashlog.ingest.stalls");
        this.stallNanos = meters.counter("hashlog.ingest.stall.nanos");
        this.sessionStalls = meters.counter("hashlog.session.stalls");
        this.lastFlushNanos = site.clock().monotonicNanos();
        this.lastStallNanos = lastFlushNanos;
        this.lastRetainNanos = lastFlushNanos;
        this.lastLockNanos = lastFlushNanos;
    }

    void start() {
        if (files != null) {
            syncs = new PageSyncs(log, files, this::wake);
        }
        worker = site.tasks().start("hashlog-flush", this::idleMicros, this::step);
    }

    /** What is written while it rests is durable in time: it rests no longer than it may wait. */
    private long idleMicros() {
        boolean looksAgain = paused
                || sessionsWaiting.get() > 0
                || log.safeTail() > log.durable()
                || wanted.get() > log.durable()
                || wantedBegin.get() > log.begin()
                || log.epochs().waitingCount() > 0;
        return looksAgain ? IDLE_MICROS : Math.min(REST_MICROS, options.flushMicros());
    }

    void wake() {
        Tasks.Worker running = worker;
        if (running != null) {
            running.wake();
        }
    }

    /** Somebody waits for {@code address} to be durable. */
    void request(long address) {
        wanted.accumulateAndGet(address, Math::max);
        wake();
    }

    /** Somebody wants the log to begin at {@code address}, which is durable. */
    void requestBegin(long address) {
        wantedBegin.accumulateAndGet(address, Math::max);
        retryNow();
    }

    /**
     * Whether it makes no sense to wait for the device any longer: the disk has been full for ten
     * seconds, or for as long as a session may wait, and was tried again since; or the log is to
     * wait no more.
     *
     * @param refusalsBefore of {@link #refusalCount()}, as the wait began
     */
    boolean isHopeless(int refusalsBefore) {
        long now = site.clock().monotonicNanos();
        long most = Math.min(SPACE_MICROS_MAX, options.waitMicrosMax()) * 1_000;
        return now >= log.waitsEndNanos()
                || (paused && refusalCount.get() > refusalsBefore && now - pausedNanos >= most);
    }

    /**
     * What to say of a wait that was given up.
     *
     * @param doing what was waited for
     * @param advice what has become of the caller's data, and what to do
     */
    StorageIoException givenUp(String doing, String advice) {
        StorageIoException cause = refusal;
        if (paused && cause != null) {
            return new StorageIoException(
                    StorageIoException.Kind.NO_SPACE,
                    doing,
                    "log " + site.name(),
                    "the disk is full (%s); %s".formatted(cause.getMessage(), advice),
                    cause);
        }
        return new StorageIoException(
                StorageIoException.Kind.IO,
                doing,
                "log " + site.name(),
                "the log was told to wait no longer; " + advice,
                null);
    }

    /**
     * Blocks until the page after {@code page} is open; the caller is not protected.
     *
     * @return nanoseconds waited
     * @throws StorageIoException if it took longer than the options allow, or the disk is full
     */
    long awaitTurn(long page) {
        long start = site.clock().monotonicNanos();
        long reportAt = start + options.stallMicros() * 1_000;
        long giveUpAt = start + options.waitMicrosMax() * 1_000;
        int refusals = refusalCount();
        stalls.increment();
        sessionsWaiting.incrementAndGet();
        wake();
        try {
            while (!log.pages().turn(page)) {
                log.checkUsable();
                if (isHopeless(refusals)) {
                    throw givenUp(
                            "waiting for a free page",
                            "the record was not taken, hand it in again once there is space");
                }
                long now = site.clock().monotonicNanos();
                if (now >= giveUpAt) {
                    throw noPage();
                }
                if (now >= reportAt) {
                    publishStall(log.isNullDevice() ? "memory" : "device", now - start);
                    reportAt = Long.MAX_VALUE;
                }
                long until = Math.min(reportAt, giveUpAt);
                site.tasks()
                        .await(() -> log.pages().mayTurn(page)
                                || isHopeless(refusals)
                                || site.clock().monotonicNanos() >= until);
            }
            return site.clock().monotonicNanos() - start;
        } finally {
            sessionsWaiting.decrementAndGet();
            stallNanos.add(site.clock().monotonicNanos() - start);
        }
    }

    private StorageIoException noPage() {
        // a reader that keeps an old page in memory is as likely as a slow device: say who
        List<String> holders = log.epochs().stalled(options.stallMicros() * 1_000).stream()
                .map(Epochs.StalledSession::name)
                .toList();
        return new StorageIoException(
                StorageIoException.Kind.IO,
                "waiting for a free page",
                "log " + site.name(),
                "none in %d ms%s; the record was not taken, hand it in again"
                        .formatted(
                                options.waitMicrosMax() / 1_000,
                                holders.isEmpty() ? "" : ", held back by " + holders),
                null);
    }

    private void publishStall(String cause, long nanos) {
        site.events()
                .publish(new StoreEvent.Stalled(
                        site.clock().wallMicros(), site.name(), 0, cause, nanos));
    }

    /** Whether the thread is within a step. */
    boolean isStepping(Thread thread) {
        return thread.equals(stepping);
    }

    private boolean step() {
        stepping = Thread.currentThread();
        try {
            return work();
        } finally {
            stepping = null;
        }
    }

    private boolean work() {
        boolean more = false;
        try {
            lookAtLock();
            PageSyncs syncing = syncs;
            if (files != null
                    && syncing != null
                    && !log.isReadOnly()
                    && !log.isFailed()
                    && !isPausing()) {
                // first, since it may make room
                retain(files);
                more = flush(files, syncing);
                resume();
            }
        } catch (StorageIoException e) {
            if (e.kind() == StorageIoException.Kind.NO_SPACE) {
                pause(e);
            } else {
                fail(e);
            }
        } catch (StoreFailedException | StoreInUseException e) {
            fail(e);
        }
        log.pages().shiftHead();
        log.epochs().drain();
        reportStalls();
        site.tasks().signal();
        return more;
    }

    private void fail(StorageException e) {
        log.fail(e);
        site.events()
                .publish(new StoreEvent.Failed(
                        site.clock().wallMicros(), "flush of log " + site.name(), e));
    }

    /** Also while a full disk is waited for: what it has of the log may be another's by then. */
    private void lookAtLock() {
        long now = site.clock().monotonicNanos();
        if (log.isFailed() || now - lastLockNanos < LOCK_MICROS * 1_000) {
            return;
        }
        lastLockNanos = now;
        try {
            log.checkLock();
        } catch (StorageIoException unknown) {
            site.events()
                    .publish(new StoreEvent.Failed(
                            site.clock().wallMicros(),
                            "look at the lock of log " + site.name(),
                            unknown));
        }
    }

    /**
     * Tells what became durable, writes whole pages below the safe tail, or else the newest one as
     * far as it goes, if asked. {@link PageSyncs} makes whole pages durable meanwhile.
     */
    private boolean flush(SegmentFiles to, PageSyncs syncing) {
        try {
            publishSynced(to, syncing.synced());
        } catch (StorageIoException failed) {
            // what was not synced may be gone, and the next sync not know: it is written again
            writtenPage = 0;
            throw failed;
        }
        long durable = log.durable();
        long safeTail = log.safeTail();
        long first = Math.max(writtenPage, shape.pageOf(durable));
        long page = first;
        // Not only pages that were turned: one that is full to its last byte is final, though the
        // next may not be open yet; were it written as the newest, nobody would seal it afterwards.
        while (shape.startOf(page + 1) <= safeTail && page - first < PAGE_COUNT_MAX) {
            seal(to, page);
            page++;
            writtenPage = page;
        }
        if (writtenPage > shape.pageOf(durable)) {
            syncing.request(writtenPage);
            return page > first;
        }
        long now = site.clock().monotonicNanos();
        boolean due =
                wanted.get() > durable || now - lastFlushNanos >= options.flushMicros() * 1_000;
        if (due && safeTail > durable) {
            flushNewest(to, page, safeTail);
            lastFlushNanos = site.clock().monotonicNanos();
        }
        return false;
    }

    /** Pages below {@code page} are durable. */
    private void publishSynced(SegmentFiles to, long page) {
        if (page > shape.pageOf(log.durable())) {
            to.noteSealed(page);
            lastFlushNanos = site.clock().monotonicNanos();
            log.durable(Math.min(shape.firstRecordOf(page), log.safeTail()));
            log.pages().shiftHead();
            site.tasks().signal();
        }
    }

    private void seal(SegmentFiles to, long page) {
        MemorySegment frame = log.ring().frame(page);
        new PageHeader(
                        to.logId(),
                        page,
                        log.pageOpenedMicros(page),
                        log.pageClosedMicros(page),
                        log.durable(),
                        log.registryNumber())
                .seal(frame, crc);
        // All of it: what was written of the page before was the same, and one large write is as
        // good.
        to.writePage(page, frame, 0, shape.pageBytes());
        pagesWritten.increment();
        bytesWritten.add(shape.pageBytes());
    }

    private void flushNewest(SegmentFiles to, long page, long safeTail) {
        MemorySegment frame = log.ring().frame(page);
        int usedBytes = (int) (safeTail - shape.startOf(page));
        if (usedBytes <= shape.pageHeaderBytes()) {
            log.durable(safeTail); // a page without records
            return;
        }
        int from = shape.offsetOf(log.durable()) & -LogShape.BLOCK_BYTES;
        int until = Math.min(
                shape.pageBytes(), (usedBytes + LogShape.BLOCK_BYTES - 1) & -LogShape.BLOCK_BYTES);
        int headerBytes = shape.pageHeaderBytes();
        long openedMicros = log.ring().openedMicros(page);
        new OpenPage(to.logId(), page, openedMicros, log.begin(), usedBytes, log.registryNumber())
                .write(frame, headerBytes, page == openPage ? from : 0, crc);
        openPage = page;
        int headerUntil = Math.min(until, OpenPage.blockBytes(headerBytes));
        if (from > headerUntil) {
            to.writePage(page, frame, 0, headerUntil);
            bytesWritten.add(headerUntil);
        } else {
            from = 0;
        }
        to.writePage(page, frame, from, until);
        to.sync(page, page);
        int checksum = crc.compute(frame, headerBytes, usedBytes - (long) headerBytes);
        crc.forget();
        to.writeMark(page, openedMicros, usedBytes, checksum);
        bytesWritten.add(until - (long) from);
        log.durable(safeTail);
    }

    /** Moves begin by the rules of retention and deletes segments that lie below it. */
    private void retain(SegmentFiles from) {
        if (wantedBegin.get() > log.begin()) {
            moveBegin(from, wantedBegin.get());
            lastRetainNanos = Long.MIN_VALUE;
        }
        long now = site.clock().monotonicNanos();
        if (lastRetainNanos != Long.MIN_VALUE && now - lastRetainNanos < RETAIN_MICROS * 1_000) {
            return;
        }
        lastRetainNanos = now;
        long headSegment = shape.segmentOf(shape.pageOf(log.head()));
        for (long segment : from.segments()) {
            if (segment >= headSegment) {
                return;
            }
            long nextPage = (segment + 1) * shape.segmentPageCount();
            long end = shape.firstRecordOf(nextPage);
            if (end > log.begin() && isExpired(from, nextPage - 1, end)) {
                moveBegin(from, end);
            }
            if (end > log.begin()) {
                return;
            }
            // once: a reader may hold it back for long, and waiting actions are bounded
            if (leaving.add(segment)) {
                log.epochs().bump(() -> deleteQuietly(from, segment));
            }
        }
    }

    /**
     * Runs on whichever session finds it due; what can't be deleted is listed, and tried, again.
     */
    private void deleteQuietly(SegmentFiles from, long segment) {
        try {
            if (!log.isFailed()) {
                from.delete(segment);
            }
        } catch (StorageIoException later) {
            assert later.kind() != StorageIoException.Kind.NOT_FOUND : later;
        } finally {
            leaving.remove(segment);
        }
    }

    /**
     * Durable before it is seen, and before a segment goes: a power cut may bring segments back.
     */
    private void moveBegin(SegmentFiles in, long address) {
        in.writeBegin(address);
        log.moveBegin(address);
        site.tasks().signal();
    }

    private boolean isExpired(SegmentFiles from, long lastPage, long end) {
        if (log.tail() - end >= options.retainBytesMax()) {
            return true;
        }
        if (options.retainMicrosMax() == Long.MAX_VALUE) {
            return false;
        }
        LogTime time = log.time();
        if (time == null) {
            return false;
        }
        long lastMicros = from.lastArrivalMicros(lastPage);
        long wallMicros = site.clock().wallMicros();
        if (wallMicros - lastMicros <= options.retainMicrosMax()) {
            return false;
        }
        long logMicros = time.wallMicros(site.clock().monotonicNanos());
        if (logMicros - lastMicros > options.retainMicrosMax()) {
            heldBack = false;
            return true;
        }
        if (!heldBack && wallMicros - logMicros > AHEAD_MICROS) {
            heldBack = true;
            site.events()
                    .publish(new StoreEvent.RetentionHeldBack(
                            wallMicros, "log " + site.name(), logMicros));
        }
        return false;
    }

    private boolean isPausing() {
        return paused && site.clock().monotonicNanos() < retryNanos;
    }

    /** Whether the disk is full. */
    boolean isPaused() {
        return paused;
    }

    /** How often there was no space. */
    int refusalCount() {
        return refusalCount.get();
    }

    /** Tries at once, whatever happened before. */
    void retryNow() {
        retryNanos = Long.MIN_VALUE;
        wake();
    }

    private void pause(StorageIoException cause) {
        retryNanos = site.clock().monotonicNanos() + RETRY_MICROS * 1_000;
        refusal = cause;
        boolean isFirst = !paused;
        if (isFirst) {
            pausedNanos = site.clock().monotonicNanos();
            paused = true;
        }
        refusalCount.incrementAndGet();
        if (isFirst) {
            site.events()
                    .publish(new StoreEvent.SpaceChanged(
                            site.clock().wallMicros(), true, String.valueOf(cause.getMessage())));
        }
    }

    private void resume() {
        if (paused) {
            paused = false;
            site.events()
                    .publish(new StoreEvent.SpaceChanged(
                            site.clock().wallMicros(), false, "log " + site.name()));
        }
    }

    /** Tells once in a stall's length about sessions that keep everybody from going on. */
    private void reportStalls() {
        long now = site.clock().monotonicNanos();
        long limit = options.stallMicros() * 1_000;
        if (now - lastStallNanos < limit) {
            return;
        }
        lastStallNanos = now;
        for (Epochs.StalledSession stalled : log.epochs().stalled(limit)) {
            sessionStalls.increment();
            publishStall("session " + stalled.name(), stalled.nanos());
        }
    }

    @Override
    public void close() {
        Tasks.Worker running = worker;
        if (running != null) {
            running.close();
        }
        PageSyncs syncing = syncs;
        if (syncing != null) {
            syncing.close();
        }
    }
}
