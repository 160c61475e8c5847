package io.turbidite.lsm.flush;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.meter.SlowOperations;
import io.turbidite.core.meter.SlowOperations.Cause;
import io.turbidite.core.time.Pacer;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.Bandwidth;
import io.turbidite.lsm.schedule.WritePace;
import io.turbidite.lsm.schedule.WriteShares;
import io.turbidite.lsm.schedule.WriterMeter;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Holds writers back before they hold anything themselves: at first to the pace at which flushes
 * and merges keep up, and where there is no room left until there is some ({@link WritePace} has
 * the arithmetic).
 *
 * <p>Where there is no room because the disk is full, waiting helps only if somebody makes space:
 * after {@link WritePace#REFUSE_NANOS} the write is refused, with the disk's failure as its cause
 * (D6).
 *
 * <p><em>Thread-safe.</em> A writer that isn't behind reads two words.
 */
public final class WriterThrottle {
    /** A delay below that is owed rather than waited for: threads can't park more exactly. */
    private static final long WAIT_NANOS_MIN = 1_000_000;

    /** The longest delay of one write; what is slower than that comes to the stop line. */
    private static final long DELAY_NANOS_MAX = 250_000_000;

    /** Unused time that writers may catch up with: parks end late. */
    private static final long CREDIT_NANOS = 2_000_000;

    /** Until a flush or merge has been measured. */
    private static final long ASSUMED_BYTES_PER_SECOND = 64 << 20;

    /** How often the writers' rate is measured, at most. */
    private static final long SAMPLE_NANOS = 50_000_000;

    /**
     * What a sample keeps of the highest rate before: half of it is forgotten in a second or so.
     */
    private static final double REMEMBERED = 0.97;

    private final StoreCore core;
    private final WritePace pace;
    private final WriteShares.Share share;
    private final Pacer pacer;
    private final Bandwidth flushes = new Bandwidth(ASSUMED_BYTES_PER_SECOND);
    private final Bandwidth merges = new Bandwidth(ASSUMED_BYTES_PER_SECOND);
    private final WriterMeter meter;
    private final SlowOperations slow;

    /** What writes put into all trees: one record may give many entries. */
    private final LongAdder putBytes = new LongAdder();

    private final AtomicLong flushedMemoryBytes = new AtomicLong();
    private final AtomicLong mergedBytes = new AtomicLong();
    private final AtomicBoolean slowed = new AtomicBoolean();

    /** What the flush under way has still to write; -1 if there is none. */
    private volatile long flushingBytes = -1;

    private volatile int componentsBehind;

    /** From where memory has a price and a flush is due. */
    private volatile long memoryBytesFree;

    /** Of the writers, in bytes of memory; these three are confined to the worker that flushes. */
    private double writersBytesPerSecond;

    private long sampledBytes;
    private long sampledNanos;

    /** Why a flush or a merge pauses; null if it doesn't. */
    private volatile @Nullable StorageException flushTrouble;

    private volatile @Nullable StorageException mergeTrouble;

    public WriterThrottle(StoreCore core, WritePace pace) {
        this.core = core;
        this.pace = pace;
        this.share = core.account().share();
        this.pacer = new Pacer(core.clock(), CREDIT_NANOS);
        this.meter = WriterMeter.of(core.meters());
        this.slow = SlowOperations.of(core.meters());
        this.sampledNanos = core.clock().monotonicNanos();
        this.memoryBytesFree = pace.memoryBytesFree(1, 1);
    }

    /** Whether a flush should begin. */
    public boolean flushIsDue() {
        return unflushedBytes() - share.flushingOfOthers() >= memoryBytesFree;
    }

    /**
     * Measures how fast writers are, which says when a flush must begin; for the worker that
     * flushes.
     */
    public void sample() {
        long now = core.clock().monotonicNanos();
        long nanos = now - sampledNanos;
        if (nanos < SAMPLE_NANOS) {
            return;
        }
        long bytes = share.all().writtenBytes();
        double rate = Math.max(0, bytes - sampledBytes) * 1e9 / nanos;
        sampledNanos = now;
        sampledBytes = bytes;
        writersBytesPerSecond = Math.max(rate, writersBytesPerSecond * REMEMBERED);
        memoryBytesFree = pace.memoryBytesFree(writersBytesPerSecond, flushes.bytesPerSecond());
    }

    /** Whether merges should leave the machine to the flush that is under way. */
    public boolean flushIsUrgent() {
        return flushingBytes >= 0 && unflushedBytes() >= pace.memoryBytesUrgent(memoryBytesFree);
    }

    public int componentsBehind() {
        return componentsBehind;
    }

    /** What a byte that is put costs now, in nanoseconds; infinite where writers stop. */
    double nanosPerByte() {
        long unflushed = unflushedBytes();
        long flushing = flushingBytes;
        double memory = unflushed <= memoryBytesFree
                ? 0
                : pace.memoryNanosPerByte(
                        unflushed, flushing < 0 ? unflushed : flushing, flushes.bytesPerSecond());
        double merge = pace.mergeNanosPerByte(
                componentsBehind, merges.bytesPerSecond(), perByte(mergedBytes.get()));
        long written = flushedMemoryBytes.get() + share.unflushedBytes();
        return Math.max(memory * perByte(written), merge);
    }

    /** Bytes for each byte that was put since the store was opened, at least 1. */
    private double perByte(long bytes) {
        return Math.max(1, bytes / (double) Math.max(1, putBytes.sum()));
    }

    /**
     * Returns when a write may come in; to be called before anything is held.
     *
     * @param bytes of its records and keys
     * @param putBytes about as many as it puts into all trees
     * @throws io.turbidite.core.StoreFailedException if the store failed while waiting
     * @throws StorageIoException if there is no room, and no space on disk to make some
     */
    public void awaitRoom(long bytes, long putBytes) {
        meter.bytes().add(bytes);
        this.putBytes.add(putBytes);
        if (unflushedBytes() <= memoryBytesFree && pace.mergesKeepUp(componentsBehind)) {
            if (slowed.get() && slowed.compareAndSet(true, false)) {
                core.events().slowed(false, 0);
            }
            return;
        }
        if (!isStopped()) {
            delay(putBytes);
        }
        if (isStopped()) {
            stall();
        }
    }

    private void delay(long putBytes) {
        double nanosPerByte = nanosPerByte();
        double cost = Math.min(putBytes * nanosPerByte, DELAY_NANOS_MAX);
        long waitNanos = pacer.charge((long) cost, DELAY_NANOS_MAX);
        if (waitNanos < WAIT_NANOS_MIN) {
            return;
        }
        if (slowed.compareAndSet(false, true)) {
            core.events().slowed(true, (long) (1e9 / nanosPerByte));
        }
        long startNanos = core.clock().monotonicNanos();
        core.awaitBeforeWrite(
                "merges and flushes to keep up",
                () -> core.clock().monotonicNanos() - startNanos >= waitNanos);
        long waited = core.clock().monotonicNanos() - startNanos;
        meter.delays().record(waited);
        slow.waited(
                pace.mergesKeepUp(componentsBehind) ? Cause.STALL : Cause.MERGE,
                startNanos,
                waited);
        core.health().checkWritable();
    }

    private void stall() {
        boolean memory = unflushedBytes() >= pace.memoryBytesMax();
        long startNanos = core.clock().monotonicNanos();
        core.awaitBeforeWrite(
                memory ? "write memory" : "merges, which are behind",
                () -> !isStopped()
                        || (trouble() != null
                                && core.clock().monotonicNanos() - startNanos
                                        >= WritePace.REFUSE_NANOS));
        long waitedNanos = core.clock().monotonicNanos() - startNanos;
        meter.stalls().record(waitedNanos);
        slow.waited(memory ? Cause.STALL : Cause.MERGE, startNanos, waitedNanos);
        core.events().stalled(memory ? "write memory is full" : "merges are behind", waitedNanos);
        core.health().checkWritable();
        StorageException trouble = trouble();
        if (trouble != null && isStopped()) {
            throw refusal(trouble);
        }
    }

    private static StorageException refusal(StorageException trouble) {
        String message =
                "what was written before can't go to disk (%s); the store takes writes again when it can"
                        .formatted(trouble.getMessage());
        return switch (trouble) {
            case StorageIoException io ->
                new StorageIoException(io.kind(), "write", "the store", message, io);
            case CacheFullException full -> new CacheFullException(message, full);
            default -> trouble;
        };
    }

    private boolean isStopped() {
        return pace.isStopped(unflushedBytes(), componentsBehind);
    }

    private @Nullable StorageException trouble() {
        if (unflushedBytes() < pace.memoryBytesMax()) {
            return mergeTrouble;
        }
        StorageException own = flushTrouble;
        WriteShares.Share other = own == null ? share.otherInTrouble() : null;
        return other == null ? own : troubleOf(other);
    }

    /** Another store can't flush what it holds of the memory that both share. */
    private static @Nullable StorageException troubleOf(WriteShares.Share other) {
        Throwable cause = other.trouble();
        return cause == null
                ? null
                : new StorageIoException(
                        cause instanceof StorageIoException io
                                ? io.kind()
                                : StorageIoException.Kind.IO,
                        "flush",
                        other.store(),
                        "%d bytes of the write memory that the stores of a runtime share are held by %s, which can't flush them: %s"
                                .formatted(
                                        other.unflushedBytes(), other.store(), cause.getMessage()),
                        cause);
    }

    /** Of all stores that share the write memory. */
    private long unflushedBytes() {
        return share.all().unflushedBytes();
    }

    /** A flush has that much to write, until {@link #flushed}; may be told again, with less. */
    void flushing(long bytes) {
        flushingBytes = bytes;
        share.flushing(bytes);
        sample();
    }

    /** A flush is over. */
    void flushEnded() {
        flushingBytes = -1;
        share.flushed(0);
    }

    /**
     * A flush was successful, and gave that much memory back.
     *
     * @param nanos it took, without what it waited to let commits go first
     */
    void flushed(long memoryBytes, long nanos) {
        flushes.record(memoryBytes, nanos);
        flushedMemoryBytes.addAndGet(memoryBytes);
        share.flushed(memoryBytes);
        flushTrouble = null;
    }

    /**
     * A step of a merge is over.
     *
     * @param workers how many were merging at the time, this one included
     */
    public void merging(long writtenBytes, long nanos, int workers) {
        merges.record(writtenBytes * workers, nanos);
        mergedBytes.addAndGet(writtenBytes);
    }

    /** The largest number of components that an index has too many. */
    public void componentsBehind(int count) {
        componentsBehind = count;
        core.tasks().signal();
    }

    public void flushPaused(StorageException cause) {
        flushTrouble = cause;
        share.trouble(cause);
    }

    public void mergePaused(@Nullable StorageException cause) {
        mergeTrouble = cause;
    }
}
