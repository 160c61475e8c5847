package io.turbidite.lsm.order;

import io.turbidite.core.Limits;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.merge.VersionRetention;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;

/**
 * Draws operation numbers, knows the read watermark, keeps the registered snapshots (D2, D3).
 *
 * <p><em>Thread-safe:</em> drawing and completing are lock-free; snapshots are under this object's
 * monitor, the same under which the horizon is read.
 *
 * <ol>
 *   <li>A timestamp is drawn once and completed once; the store fails if a drawn one can't
 *       complete.
 *   <li>Those of a batch are drawn together, one for each of its operations, and completed
 *       together: the watermark passes all of them in one step, so nobody sees a part of a batch.
 *   <li>The watermark is the highest timestamp at or below which every drawn one is complete. The
 *       store of a slot in {@link #complete} and the loads in {@code advance} are in one order with
 *       the watermark's: of two writers that complete neighbours at once, one sees the other's
 *       slot, or the other sees the watermark that one has moved. With release and acquire neither
 *       might, and the later one would wait for ever.
 *   <li>A snapshot's timestamp is a watermark, so it never changes what it shows.
 * </ol>
 */
public final class Timestamps {
    /** Draws that were completed but not yet passed fit in here; a power of two. */
    static final int WINDOW = 1 << 16;

    /** Of a draw: the last of its timestamps. Above it is the draw's number, as far as it fits. */
    private static final long TIMESTAMP_MASK = Limits.TIMESTAMP_MAX;

    private static final int NUMBER_SHIFT = Long.numberOfTrailingZeros(TIMESTAMP_MASK + 1);

    private static final long NUMBER_ONE = 1L << NUMBER_SHIFT;

    /** A snapshot of this age was probably forgotten: five minutes. */
    public static final long SNAPSHOT_OLD_NANOS = 300_000_000_000L;

    /** The last draw. */
    private final AtomicLong lastDrawn;

    /** The last draw that was passed. */
    private final AtomicLong passed;

    /** By number, the draws that were completed last. */
    private final AtomicLongArray completed = new AtomicLongArray(WINDOW);

    private final TreeMap<Long, Registered> snapshots = new TreeMap<>();
    private final Tasks tasks;
    private final Clock clock;

    /** Whether the store has failed: what is waited for may never come. */
    private final BooleanSupplier failed;

    /** While it is not 0 no snapshot may be registered; raised under the monitor. */
    private final AtomicInteger holdBackCount = new AtomicInteger();

    /** Who waits for the watermark: without any, a write signals nobody. */
    private final AtomicInteger waiting = new AtomicInteger();

    /**
     * @param last the highest timestamp that the manifest or the log has seen
     * @param failed whether the store has failed; nobody waits for a timestamp then
     */
    public Timestamps(long last, Tasks tasks, Clock clock, BooleanSupplier failed) {
        this.failed = failed;
        this.lastDrawn = new AtomicLong(last);
        this.passed = new AtomicLong(last);
        this.tasks = tasks;
        this.clock = clock;
    }

    /** How often a timestamp is registered, and since when. */
    private static final class Registered {
        final long sinceNanos;
        long reportAfterNanos = SNAPSHOT_OLD_NANOS;
        int count;

        /**
         * Those of {@link #count} that are one dataset's view, with the indexes that it had then.
         */
        int viewCount;

        Registered(long sinceNanos) {
            this.sinceNanos = sinceNanos;
        }
    }

    /**
     * A timestamp that readers keep alive.
     *
     * @param count how many snapshots and views are registered at it
     * @param ageNanos since the first of them was
     */
    public record HeldSnapshot(long timestamp, int count, long ageNanos) {}

    /**
     * Waits until a timestamp may be drawn without running out of the window. To be called before
     * entering a gate, because {@link #draw} does not wait: threads in between are far fewer than
     * the half window kept free.
     */
    public void awaitRoom() {
        if (!hasRoom()) {
            await(() -> hasRoom() || failed.getAsBoolean());
        }
    }

    private boolean hasRoom() {
        return (lastDrawn.get() - passed.get()) >> NUMBER_SHIFT < WINDOW / 2;
    }

    /**
     * Draws the next timestamps; only inside a gate.
     *
     * @param count how many, at least 1
     * @return the draw, to be {@link #complete completed}; {@link #lastOf} has its last timestamp,
     *     the others are those right before it. Not 0
     */
    public long draw(int count) {
        long draw = lastDrawn.addAndGet(NUMBER_ONE + count);
        if (lastOf(draw) >= Limits.TIMESTAMP_MAX - Integer.MAX_VALUE) {
            throw new StoreFailedException("the store has used all timestamps", null);
        }
        return draw;
    }

    /** The last timestamp of a draw. */
    public static long lastOf(long draw) {
        return draw & TIMESTAMP_MASK;
    }

    /** What was drawn is in the memory components: readers may see it. */
    public void complete(long draw) {
        completed.set(slot(draw), draw);
        advance();
    }

    /**
     * As {@link #complete}, by who can't tell whether it did so before: what has come into the
     * draw's place since stays.
     */
    public void completeAgain(long draw) {
        completed.accumulateAndGet(
                slot(draw), draw, (there, again) -> lastOf(there) > lastOf(again) ? there : again);
        advance();
    }

    private static int slot(long draw) {
        return (int) (draw >>> NUMBER_SHIFT) & (WINDOW - 1);
    }

    private void advance() {
        long last = passed.get();
        boolean moved = false;
        long next = completed.get(slot(last + NUMBER_ONE));
        while (isNext(next, last)) {
            if (passed.compareAndSet(last, next)) {
                moved = true;
                last = next;
            } else {
                last = passed.get();
            }
            next = completed.get(slot(last + NUMBER_ONE));
        }
        if (moved && waiting.get() > 0) {
            tasks.signal();
        }
    }

    /** Whether a draw is the one behind another; a slot may still hold one of long before. */
    private static boolean isNext(long draw, long last) {
        return draw >>> NUMBER_SHIFT == (last + NUMBER_ONE) >>> NUMBER_SHIFT
                && lastOf(draw) > lastOf(last);
    }

    /**
     * Returns when readers see {@code timestamp}.
     *
     * @throws StoreFailedException if the store has failed and they may never
     */
    public void awaitVisible(long timestamp) {
        if (watermark() < timestamp) {
            await(() -> watermark() >= timestamp || failed.getAsBoolean());
            if (watermark() < timestamp) {
                throw new StoreFailedException(
                        "a write before this one has failed with the store; reopen it to recover",
                        null);
            }
        }
    }

    private void await(BooleanSupplier condition) {
        waiting.incrementAndGet();
        try {
            tasks.await(condition);
        } finally {
            waiting.decrementAndGet();
        }
    }

    /** Goes on above {@code last}, which replay has seen; before anything is drawn. */
    public void resumeAbove(long last) {
        lastDrawn.accumulateAndGet(last, Math::max);
        passed.accumulateAndGet(last, Math::max);
    }

    /** The highest timestamp drawn so far. */
    public long lastDrawn() {
        return lastOf(lastDrawn.get());
    }

    /** The highest timestamp at or below which nothing is in flight. */
    public long watermark() {
        return lastOf(passed.get());
    }

    /**
     * Registers a snapshot of now; the returned timestamp goes back to {@link #release}. Waits
     * while somebody {@link #tryHoldBack holds snapshots back}.
     */
    public long register() {
        return register(0);
    }

    /**
     * As {@link #register}, for one view of one dataset, which searches no index that is made
     * later; goes back to {@link #releaseView}.
     */
    public long registerView() {
        return register(1);
    }

    private long register(int views) {
        while (true) {
            synchronized (this) {
                if (holdBackCount.get() == 0) {
                    long timestamp = watermark();
                    Registered registered = snapshots.computeIfAbsent(
                            timestamp, key -> new Registered(clock.monotonicNanos()));
                    registered.count++;
                    registered.viewCount += views;
                    return timestamp;
                }
            }
            await(() -> holdBackCount.get() == 0);
        }
    }

    /**
     * Lets no snapshot be registered until {@link #letSnapshotsIn}, unless one at or above
     * {@code from} is. For what appears as a whole at a timestamp of long ago: who looked before
     * must not see it come. To be called under the manifest's lock, as others register under it.
     *
     * @return false if one is, and nothing is held back
     */
    public synchronized boolean tryHoldBack(long from) {
        if (snapshots.ceilingKey(from) != null) {
            return false;
        }
        holdBackCount.incrementAndGet();
        return true;
    }

    /** Ends what {@link #tryHoldBack} began. */
    public void letSnapshotsIn() {
        holdBackCount.decrementAndGet();
        tasks.signal();
    }

    public synchronized void release(long timestamp) {
        Registered registered = snapshots.get(timestamp);
        if (registered != null && --registered.count == 0) {
            snapshots.remove(timestamp);
        }
    }

    public synchronized void releaseView(long timestamp) {
        Registered registered = snapshots.get(timestamp);
        if (registered != null) {
            registered.viewCount--;
            release(timestamp);
        }
    }

    /**
     * Whether a snapshot at or above {@code from} and below {@code to} is registered of which views
     * may yet be opened: those that are open search no index that is made now.
     */
    public synchronized boolean hasSnapshotBetween(long from, long to) {
        return from < to
                && snapshots.subMap(from, to).values().stream()
                        .anyMatch(registered -> registered.count > registered.viewCount);
    }

    /**
     * Runs {@code change} if no snapshot is registered, and lets none be registered meanwhile.
     *
     * @return whether it ran
     */
    public synchronized boolean whileUnwatched(Runnable change) {
        if (!snapshots.isEmpty()) {
            return false;
        }
        change.run();
        return true;
    }

    /** How many snapshots are registered. */
    public synchronized int snapshotCount() {
        return snapshots.values().stream()
                .mapToInt(registered -> registered.count)
                .sum();
    }

    /** The registered snapshots, oldest first. */
    public synchronized List<HeldSnapshot> snapshots() {
        long now = clock.monotonicNanos();
        List<HeldSnapshot> held = new ArrayList<>();
        snapshots.forEach((timestamp, registered) -> held.add(
                new HeldSnapshot(timestamp, registered.count, now - registered.sinceNanos)));
        return held;
    }

    /**
     * The snapshots that somebody should hear of: each when it has grown as old as {@link
     * #SNAPSHOT_OLD_NANOS}, and again when its age has doubled.
     */
    public synchronized List<HeldSnapshot> takeOldSnapshots() {
        long now = clock.monotonicNanos();
        // the first is the oldest: as long as it is young, all are
        if (snapshots.isEmpty()
                || now - snapshots.firstEntry().getValue().sinceNanos < SNAPSHOT_OLD_NANOS) {
            return List.of();
        }
        List<HeldSnapshot> old = new ArrayList<>();
        snapshots.forEach((timestamp, registered) -> {
            long age = now - registered.sinceNanos;
            if (age >= registered.reportAfterNanos) {
                registered.reportAfterNanos = 2 * age;
                old.add(new HeldSnapshot(timestamp, registered.count, age));
            }
        });
        return old;
    }

    /** The smallest timestamp at which anybody reads, or will. */
    public synchronized long horizon() {
        return snapshots.isEmpty() ? watermark() : snapshots.firstKey();
    }

    /** What a flush or merge that starts now must keep (D3). */
    public synchronized VersionRetention retention(boolean includesOldest) {
        long[] sorted = new long[snapshots.size()];
        int i = 0;
        for (long snapshot : snapshots.keySet()) {
            sorted[i++] = snapshot;
        }
        return VersionRetention.of(watermark(), sorted, includesOldest);
    }
}
