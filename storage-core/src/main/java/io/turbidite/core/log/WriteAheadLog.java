package io.turbidite.core.log;

import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.EventPoller;
import com.lmax.disruptor.InsufficientCapacityException;
import com.lmax.disruptor.RingBuffer;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.format.KnownFormat;
import io.turbidite.core.log.OverflowBuffers.Buffer;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The write-ahead log of a store: many threads publish opaque payloads, one worker writes them in
 * claim order, recovery replays them.
 *
 * <p>The way of one record: {@link #claim} takes the next slot of the ring (an LMAX Disruptor),
 * whose buffer is off the heap; the caller encodes into it and publishes; {@link LogWriter},
 * polling the ring, frames everything that is there into one write, and under
 * {@link Durability#SYNC} one sync (group commit); {@link #awaitDurable} waits for that.
 * {@link SegmentKeeper} prepares segments ahead and syncs in the other modes. {@link LogRecovery}
 * finds the end at open.
 *
 * <p><em>Positions and sequences are one numbering</em>: record <i>n</i> of the log has sequence
 * <i>n</i>; a position <i>p</i> is the boundary below record <i>p</i>. The log's own marks and
 * cancelled claims take numbers too, so numbers are dense on disk and have gaps in what replay
 * shows.
 *
 * <p>Memory: {@code ringSlots × slotBytes}, {@code overflowBytesMax}, and the writer's batch.
 *
 * <p><em>Thread-safe.</em> {@link #claim} takes no lock: one compare-and-swap, unless it must wait.
 */
public final class WriteAheadLog implements AutoCloseable {
    /** The format of its segments. */
    @SuppressWarnings("exports") // for modules that may see formats
    public static final KnownFormat FORMAT =
            new KnownFormat(Segment.FORMAT, Segment.FORMAT_VERSION);

    private static final long WRITER_IDLE_MICROS = 1_000;

    /** All that a worker at rest waits for wakes it. */
    private static final long REST_MICROS = 1_000_000;

    /** Steps of the writer in a row that found nothing, after which it rests. */
    private static final int EMPTY_STEPS_MAX = 100;

    private static final long KEEPER_IDLE_MICROS_MAX = 100_000;

    /** No rest in which it would give its thread back. */
    private static final long KEEPER_AWAKE_MICROS_MAX = 50_000;

    /**
     * A log of which no record is needed any more gives its space back when nobody has written for
     * as long: to take it again costs the next writer as much as 50 MiB of records.
     */
    static final long LET_GO_NANOS = 10_000_000_000L;

    private final LogOptions options;
    private final Clock clock;
    private final LogProgress progress;
    private final SegmentKeeper keeper;
    private final LogWriter writer;
    private final Tasks.Worker writerWorker;
    private final Tasks.Worker keeperWorker;
    private final Arena arena;
    private final RingBuffer<Claim> ring;
    private final EventPoller<Claim> poller;
    private final OverflowBuffers overflow;

    /** Sequence of the ring's slot 0; the number below is that of the session's mark. */
    private final long firstSequence;

    private final boolean wakeOnPublish;

    /** Guarded by {@link #writing}, but for a look of the writer's worker. */
    private int emptySteps;

    /** Written under {@link #writing}, read by whoever publishes. */
    private volatile boolean resting;

    /** Written before {@link #resting}. */
    private volatile long restsSinceNanos;

    private final long wakeMask;
    private final BooleanSupplier slotFreeOrShut;

    /** Held by whoever lets the writer take a step; never while waiting. */
    private final ReentrantLock writing = new ReentrantLock();

    /** The writer takes no step any more; guarded by {@link #writing}. */
    private boolean stopped;

    private final LongAdder waits = new LongAdder();

    /** What {@link #position} is before anything has been published. */
    private final long provenPosition;

    /** Nothing is published, and no file is changed. */
    private final boolean reading;

    private WriteAheadLog(
            LogEnvironment environment,
            LogOptions options,
            RecoveredLog recovered,
            boolean reading,
            Arena arena) {
        this.arena = arena;
        this.options = options;
        this.reading = reading;
        this.clock = environment.clock();
        Tasks tasks = environment.tasks();
        this.firstSequence = recovered.next() + 1;
        this.provenPosition = recovered.proven();
        this.wakeOnPublish = options.durability() == Durability.SYNC;
        this.wakeMask = options.ringSlots() / 2 - 1L;
        this.overflow = new OverflowBuffers(options.overflowBytesMax());
        this.ring = createRing();
        this.poller = ring.newPoller();
        ring.addGatingSequences(poller.getSequence());
        this.progress = new LogProgress(tasks, recovered.next());
        this.keeper = new SegmentKeeper(environment, options, progress, recovered, writing);
        this.writer = new LogWriter(environment, options, progress, keeper, recovered, arena);
        this.slotFreeOrShut = () -> ring.remainingCapacity() > 0 || !progress.isOpen();
        if (reading) {
            progress.close();
            this.keeperWorker = NoWorker.INSTANCE;
            this.writerWorker = NoWorker.INSTANCE;
            return;
        }
        this.keeperWorker =
                tasks.start("log-keeper", this::keeperIdleMicros, () -> orFail(this::keeperStep));
        boolean started = false;
        try {
            this.writerWorker = tasks.start("log-writer", this::writerIdleMicros, this::writerStep);
            started = true;
        } finally {
            if (!started) {
                // before the caller gives back what the keeper works on
                progress.close();
                new Cleanup().add(keeperWorker::close).add(keeper::close).run();
            }
        }
    }

    /**
     * Opens the log, hands every record from {@code startPosition} on to {@code visitor}, cuts a
     * torn end, and gets ready for new records. A fresh directory is an empty log.
     *
     * <p>Opening writes nothing for a session that will publish nothing.
     *
     * @param startPosition what the manifest says replay must start from, got from
     *     {@link #position()} before a {@link #flush()}; 0 for a fresh store
     * @throws io.turbidite.core.CorruptionException if a record that had been synced is damaged or
     *     missing
     */
    public static WriteAheadLog open(
            LogEnvironment environment,
            LogOptions options,
            long startPosition,
            ReplayVisitor visitor) {
        if (startPosition < 0) {
            throw new InvalidRequestException("log position " + startPosition + " is negative");
        }
        return open(
                environment,
                options,
                LogRecovery.recover(environment, options, startPosition, visitor),
                false);
    }

    /**
     * Opens the log as {@link #open} does, and changes no byte of it: a torn end is passed over,
     * not cut. Nothing can be claimed.
     */
    public static WriteAheadLog openForReading(
            LogEnvironment environment,
            LogOptions options,
            long startPosition,
            ReplayVisitor visitor) {
        return open(
                environment,
                options,
                LogRecovery.look(environment, options, startPosition, visitor),
                true);
    }

    private static WriteAheadLog open(
            LogEnvironment environment,
            LogOptions options,
            RecoveredLog recovered,
            boolean reading) {
        Arena arena = NativeMemory.shared("the log");
        WriteAheadLog opened = null;
        try {
            opened = new WriteAheadLog(environment, options, recovered, reading, arena);
            return opened;
        } finally {
            if (opened == null) {
                arena.close();
                recovered.closeFiles();
            }
        }
    }

    /** Whether there is no segment, used or prepared, and no directory for them perhaps. */
    public static boolean isMissing(Disk disk, String directory) {
        return !disk.exists(directory)
                || disk.list(directory).stream().allMatch(name -> Segment.numberOf(name) < 0);
    }

    /** Where nothing is to be done. */
    private enum NoWorker implements Tasks.Worker {
        INSTANCE;

        @Override
        public void wake() {}

        @Override
        public void close() {}
    }

    private boolean writerStep() {
        writing.lock();
        try {
            boolean more = step(true);
            if (!more) {
                boolean isAwaited = progress.wantsMark() || progress.wantsMarkSynced();
                emptySteps = isAwaited ? 0 : Math.min(emptySteps + 1, EMPTY_STEPS_MAX + 1);
                boolean rests = emptySteps >= EMPTY_STEPS_MAX;
                if (rests && !resting) {
                    restsSinceNanos = clock.monotonicNanos();
                }
                resting = rests;
            }
            return more;
        } finally {
            writing.unlock();
        }
    }

    private boolean keeperStep() {
        boolean more = keeper.step();
        if (resting
                && clock.monotonicNanos() - restsSinceNanos >= LET_GO_NANOS
                && keeper.mayLetGo()
                && writing.tryLock()) {
            try {
                letGo();
            } finally {
                writing.unlock();
            }
            progress.signal(); // who has found the lock taken waits to be told
        }
        return more;
    }

    /**
     * The log of a store at rest takes no space but for a small segment: the others go, prepared
     * ones and the reserve too. The next claim waits until they are there again, and is refused
     * where the disk has no space for them: nothing was accepted then.
     */
    private void letGo() {
        if (stopped || progress.closed() || progress.failed()) {
            return;
        }
        keeper.endAdmission();
        // After that: a claim that was admitted before has its slot, and is seen here.
        boolean isEmpty = poller.getSequence().get() == ring.getCursor();
        if (isEmpty && writer.letGo()) {
            deleteUnused();
        } else {
            keeper.resumeAdmission();
        }
    }

    /**
     * A log to which nobody writes costs nothing. Who publishes while the writer rests wakes it. It
     * looks once more, a millisecond after it has said that it rests: who had not seen that has
     * published by then, without a fence for each record.
     */
    private long writerIdleMicros() {
        return emptySteps > EMPTY_STEPS_MAX ? REST_MICROS : WRITER_IDLE_MICROS;
    }

    /**
     * A long rest may end late ({@link io.turbidite.core.task.ThreadTasks}), and an interval bounds
     * what is lost: where records come, the keeper takes short ones. It is woken when they come
     * again.
     */
    private long keeperIdleMicros() {
        if (resting && keeper.isAtRest()) {
            return REST_MICROS;
        }
        long idle = Math.min(options.intervalMicros(), KEEPER_IDLE_MICROS_MAX);
        return resting || options.durability() != Durability.INTERVAL
                ? idle
                : keeper.untilSyncMicros(Math.min(idle, KEEPER_AWAKE_MICROS_MAX));
    }

    private boolean step(boolean mayMark) {
        return orFail(() -> {
            boolean more = !stopped && writer.step(poller, mayMark);
            if (more) {
                emptySteps = 0;
                if (resting) {
                    resting = false;
                    writerWorker.wake(); // a caller has written: others may publish and not write
                    if (options.durability() == Durability.INTERVAL) {
                        keeperWorker.wake();
                    }
                }
            }
            if (keeper.wantsWork()) {
                keeperWorker.wake();
            }
            return more;
        });
    }

    /** A worker that ends with an error would leave everybody waiting: the log fails with it. */
    private boolean orFail(Tasks.Step step) {
        try {
            return step.run();
        } catch (ClosedException closed) {
            throw closed;
        } catch (RuntimeException | Error bug) {
            progress.fail(bug);
            throw bug;
        }
    }

    private RingBuffer<Claim> createRing() {
        int slotBytes = options.slotBytes();
        MemorySegment memory =
                NativeMemory.allocate(arena, (long) options.ringSlots() * slotBytes, 64);
        long[] offset = {0};
        // The strategy is how a consumer would wait for producers; ours polls, so none ever does.
        return RingBuffer.createMultiProducer(
                () -> {
                    Claim claim = new Claim(this, memory, offset[0], slotBytes);
                    offset[0] += slotBytes;
                    return claim;
                },
                options.ringSlots(),
                new BusySpinWaitStrategy());
    }

    /**
     * Claims the next place in the log with room for {@code payloadBytesMax} bytes. Waits while the
     * ring or the memory for large payloads is full.
     *
     * @throws InvalidRequestException if no payload may be that large
     * @throws io.turbidite.core.StorageIoException if there is no disk space for the record; the
     *     log stays good and accepts again when there is
     * @throws io.turbidite.core.StoreFailedException once a write or sync has failed
     * @throws io.turbidite.core.ClosedException after close
     */
    public Claim claim(int payloadBytesMax) {
        if (payloadBytesMax > options.slotBytes()) {
            return claimLarge(payloadBytesMax);
        }
        if (payloadBytesMax < 0) {
            throw new IllegalArgumentException("payload of " + payloadBytesMax + " bytes");
        }
        return claimSlot(null);
    }

    /** Claims, copies and publishes; returns the record's sequence. */
    public long append(Slice payload) {
        Claim claim = claim(payload.length());
        MemorySegment.copy(
                payload.segment(),
                payload.offset(),
                claim.segment(),
                claim.offset(),
                payload.length());
        return claim.publish(payload.length());
    }

    private Claim claimSlot(@Nullable Buffer large) {
        while (true) {
            if (!progress.isOpen()) {
                awaitOpen();
            }
            long slot;
            try {
                slot = ring.tryNext();
            } catch (InsufficientCapacityException full) {
                waits.increment();
                writerWorker.wake();
                progress.await(slotFreeOrShut);
                continue;
            }
            Claim claim = ring.get(slot);
            boolean handedOver = false;
            try {
                claim.take(firstSequence + slot, large);
                // Again, now that the slot counts as in flight: claims were admitted when it began
                // to count, so the room that was there then is there for it (see SegmentKeeper).
                if (progress.isOpen()) {
                    handedOver = true;
                    return claim;
                }
            } finally {
                if (!handedOver) {
                    claim.forgetLarge();
                    boolean _ = giveUp(claim, firstSequence + slot);
                }
            }
        }
    }

    private Claim claimLarge(int payloadBytesMax) {
        if (payloadBytesMax > options.payloadBytesMax()) {
            throw new InvalidRequestException(
                    "a log record of %d bytes is larger than the limit of %d: write smaller batches"
                            .formatted(payloadBytesMax, options.payloadBytesMax()));
        }
        // Memory before the slot: whoever holds a slot needs nothing more, so the ring always
        // drains.
        Buffer buffer = overflow.tryAcquire(payloadBytesMax);
        while (buffer == null) {
            waits.increment();
            writerWorker.wake();
            progress.await(() -> overflow.mayAcquire(payloadBytesMax) || progress.refusing());
            progress.checkAccepting();
            buffer = overflow.tryAcquire(payloadBytesMax);
        }
        boolean claimed = false;
        try {
            Claim claim = claimSlot(buffer);
            claimed = true;
            return claim;
        } finally {
            if (!claimed) {
                overflow.release(buffer);
            }
        }
    }

    private void awaitOpen() {
        progress.checkAccepting();
        waits.increment();
        keeper.roomIsAwaited();
        keeperWorker.wake();
        progress.await(() -> progress.isOpen() || progress.refusing());
        progress.checkAccepting();
    }

    /** Called by the claim, on the writer's thread. */
    void release(Buffer large) {
        overflow.release(large);
    }

    /**
     * Called by the claim, on its holder's thread. The ring says whether the slot was published:
     * until the writer has passed it nobody else can have it.
     */
    boolean giveUp(Claim claim, long sequence) {
        long slot = sequence - firstSequence;
        if (poller.getSequence().get() >= slot || ring.isAvailable(slot)) {
            return false;
        }
        try {
            claim.setCancelled();
            ring.publish(slot);
        } catch (RuntimeException | Error failure) {
            progress.fail(failure); // wakes everybody who would wait for the slot
            throw failure;
        }
        writerWorker.wake();
        return true;
    }

    /** Called by the claim. */
    void published(long sequence, boolean large) {
        long slot = sequence - firstSequence;
        ring.publish(slot);
        // Without anyone waiting, the writer's own rhythm is soon enough unless the ring fills
        // before, or it rests.
        if (wakeOnPublish || large || (slot & wakeMask) == 0 || resting) {
            writerWorker.wake();
        }
    }

    /**
     * Waits until the record is as safe as the mode promises: synced under {@link Durability#SYNC},
     * with the operating system under {@link Durability#INTERVAL} and {@link Durability#PROCESS}.
     * Then all records before it are as safe. Under {@link Durability#BUFFERED} it returns at once,
     * and for what was there when the log was opened.
     *
     * @throws io.turbidite.core.StoreFailedException if it never will be, because a write or sync
     *     failed
     */
    public void awaitDurable(long sequence) {
        if (sequence < firstSequence) {
            return;
        }
        switch (options.durability()) {
            case SYNC -> awaitSynced(sequence);
            case INTERVAL, PROCESS -> writeUpTo(sequence);
            case BUFFERED -> progress.checkFailure();
        }
    }

    /**
     * Whether {@link #awaitDurable} would return without waiting.
     *
     * @throws io.turbidite.core.StoreFailedException if the record never will be as safe
     */
    public boolean isDurable(long sequence) {
        if (sequence < firstSequence) {
            return true;
        }
        long safe = switch (options.durability()) {
            case SYNC -> progress.durable();
            case INTERVAL, PROCESS -> progress.written();
            case BUFFERED -> {
                progress.checkFailure();
                yield Long.MAX_VALUE;
            }
        };
        if (safe <= sequence) {
            progress.checkFailure();
        }
        return safe > sequence;
    }

    /**
     * The sequence of the last claim there was, for {@link #awaitDurable(long)}: open claims are
     * waited for, so the caller must not hold what their holders wait for. Below all claims if
     * there was none since the log was opened.
     */
    public long lastClaimed() {
        return firstSequence + ring.getCursor();
    }

    /**
     * The first that waits writes for all that have published, on its own thread: to wake the
     * writer's worker and to be woken by it costs more than the write. Those that come meanwhile
     * wait for it, and one of them writes what was published since.
     */
    private void writeUpTo(long sequence) {
        while (progress.written() <= sequence && !progress.failed()) {
            if (!writing.tryLock()) {
                progress.await(() ->
                        progress.written() > sequence || progress.failed() || !writing.isLocked());
                continue;
            }
            boolean wrote;
            try {
                wrote = step(false);
            } finally {
                writing.unlock();
            }
            if (!wrote && progress.written() <= sequence) {
                // a claim before it is open: its holder writes both, or the worker
                progress.await(() -> progress.written() > sequence || progress.failed());
            }
        }
        if (progress.written() <= sequence) {
            progress.checkFailure();
        }
    }

    /**
     * Waits until the record has been handed to the operating system: it survives this process,
     * though not a power cut.
     *
     * @throws io.turbidite.core.StoreFailedException if it never will be
     */
    public void awaitWritten(long sequence) {
        if (progress.written() <= sequence) {
            writerWorker.wake();
            progress.await(() -> progress.written() > sequence || progress.failed());
            if (progress.written() <= sequence) {
                progress.checkFailure();
            }
        }
    }

    private void awaitSynced(long sequence) {
        if (progress.durable() <= sequence) {
            BooleanSupplier isOver = () -> progress.durable() > sequence || progress.failed();
            if (options.durability() == Durability.SYNC) {
                progress.await(isOver);
            } else {
                progress.awaitKeeper(isOver);
            }
            if (progress.durable() <= sequence) {
                progress.checkFailure();
            }
        }
    }

    /**
     * Makes everything published so far durable, in every mode (design §4, rule 6). Waits for
     * claims that are open now, so the caller must not hold what their holders wait for.
     *
     * @throws io.turbidite.core.StoreFailedException if that failed, now or before
     */
    public void flush() {
        long last = firstSequence + ring.getCursor();
        if (last >= firstSequence) {
            awaitWritten(last);
            if (options.durability() != Durability.SYNC && progress.durable() <= last) {
                keeper.requestSync(last + 1);
                keeperWorker.wake();
            }
            awaitSynced(last);
        }
        progress.checkFailure();
    }

    /**
     * As {@link #flush}, and a mark that says so is durable too when this returns: what is damaged
     * below is never taken for a torn end, whatever happens to the process. On a full disk the mark
     * may have to wait for the next record, though what was published is durable.
     *
     * @throws io.turbidite.core.StoreFailedException if that failed, now or before
     */
    public void sync() {
        long below = firstSequence + ring.getCursor() + 1;
        flush();
        if (below > firstSequence && progress.vouchedDurable() < below) {
            progress.wantVouched(below);
            keeper.roomIsAwaited();
            writerWorker.wake();
            keeperWorker.wake();
            progress.await(() -> progress.isVouchedOrNeverWill(below));
            progress.checkFailure();
        }
    }

    /** Every record below this sequence is durable, whatever the mode. */
    public long durableSequence() {
        return progress.durable();
    }

    /**
     * The position behind the published records: every record below it is published, so an
     * operation that publishes from now on, or whose claim is open now, is at or above it. What the
     * manifest keeps for replay, and good for {@link #truncateBefore} once the manifest is durable.
     * Before anything has been published it is not behind the seal of the last close, which nothing
     * proves to be on disk.
     */
    public long position() {
        long slot = poller.getSequence().get() + 1;
        long cursor = ring.getCursor();
        while (slot <= cursor && ring.isAvailable(slot)) {
            slot++;
        }
        return slot == 0 ? provenPosition : firstSequence + slot;
    }

    /**
     * {@link #position} as far as it is on disk: a manifest that named more, after a {@link #flush}
     * that came before the position was asked, would name what a power cut takes away.
     */
    public long durablePosition() {
        long durable = progress.durable();
        return Math.min(position(), durable < firstSequence ? provenPosition : durable);
    }

    /**
     * Deletes the segments that hold nothing at or above {@code position}, oldest first. The
     * manifest that names a position at or above must be durable.
     */
    public void truncateBefore(long position) {
        if (position > position()) {
            throw new InvalidRequestException("truncation before %d, which is behind the end %d"
                    .formatted(position, position()));
        }
        keeper.truncateBefore(position);
        keeperWorker.wake();
    }

    /** Bytes of frames in the segments that are kept. */
    public long bytes() {
        return keeper.bytes();
    }

    /**
     * Refuses as a {@link #claim} would now, and claims nothing. A claim that would wait is not
     * refused.
     *
     * @throws io.turbidite.core.StorageIoException if there is no disk space for the next segment
     * @throws io.turbidite.core.StoreFailedException once a write or sync has failed
     * @throws io.turbidite.core.ClosedException after close
     */
    public void checkAccepting() {
        progress.checkAccepting();
    }

    /**
     * Whether a write or a sync has failed: nothing is accepted any more, reads are not concerned.
     */
    public boolean failed() {
        return progress.failed();
    }

    /**
     * The longest that a commit has waited for the disk since this was last asked, under {@link
     * Durability#SYNC}; 0 if there was none. For whoever writes behind the log's back and wants to
     * know whether it is in the way.
     */
    public long takeSlowestSyncNanos() {
        return writer.takeSlowestSyncNanos();
    }

    /** What the log has done since it was opened. */
    public LogStatistics statistics() {
        return new LogStatistics(
                writer.recordCount(),
                writer.batchCount(),
                writer.bytesWritten(),
                writer.syncCount() + keeper.syncCount(),
                waits.sum(),
                keeper.createdCount(),
                keeper.recycledCount(),
                keeper.zeroBytes(),
                keeper.reserveUseCount());
    }

    /**
     * Writes what was published, syncs, seals the end, and stops; then deletes the segments that
     * hold nothing that is needed. All claims have been ended; a thread that waits for one gets a
     * {@link io.turbidite.core.ClosedException}. A failed log is closed as it is.
     *
     * @throws io.turbidite.core.StorageException if the end could not be made durable
     */
    @Override
    public void close() {
        if (reading) {
            closeParts();
            return;
        }
        if (progress.closed()) {
            return;
        }
        progress.close();
        writerWorker.wake();
        progress.await(() -> progress.failed() || poller.getSequence().get() == ring.getCursor());
        new Cleanup()
                .add(writerWorker::close)
                .add(keeperWorker::close)
                .add(writing::lock)
                .add(this::endWriting)
                .add(this::closeParts)
                .add(writing::unlock)
                .run();
    }

    private void endWriting() {
        stopped = true;
        if (!progress.failed()) {
            writer.seal();
            deleteUnused();
        }
    }

    private void closeParts() {
        Cleanup all = new Cleanup().add(keeper::close).add(overflow::close);
        if (arena.scope().isAlive()) {
            all.add(arena::close);
        }
        all.run();
    }

    private void deleteUnused() {
        try {
            keeper.deleteUnused();
        } catch (StorageException e) {
            // The log is whole and durable; the next opening tries again.
        }
    }
}
