package io.turbidite.feeds.flow;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.task.Tasks;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.SourcePosition;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

/**
 * A pipeline whose producer goes on while the ring is full: whole batches go to a {@link Spill},
 * and from there to the ring when that has room, in order before anything newer. When the spill is
 * full too, one batch is held in memory and the producer waits.
 *
 * <ol>
 *   <li>At any time the batches that are not delivered are, from the oldest: those of the ring,
 *       those of the spill that were not read back, the one that is held.
 *   <li>Of a source that can't go back, a position is told to be durable only once all of its
 *       partition before it is: what went to the ring before the spill began is delivered, the
 *       rest is delivered or in the spill, which is synced.
 *   <li>What an earlier run has left is delivered before anything is read.
 * </ol>
 *
 * <em>Confined to the thread that reads.</em>
 */
public final class SpilledFlow implements BatchFlow {
    /** So much is synced at once, if it comes within {@value #GROUP_NANOS} nanoseconds. */
    private static final long GROUP_BYTES = 1 << 20;

    private static final long GROUP_NANOS = 5_000_000;

    private final Pipeline ring;
    private final Spill spill;
    private final SpillPlace place;
    private final FeedSource source;
    private final FeedMeters meters;
    private final Tasks tasks;

    /** What is filled while the ring is full, or held while the spill is. */
    private final Batch own = new Batch();

    private boolean isClaimed;
    private boolean isHeld;
    private final AtomicLong spilledCount = new AtomicLong();

    /** Up to where each partition is in the spill and was not told to be. */
    private final Map<String, SourcePosition> untold = new LinkedHashMap<>();

    private long untoldBytes;
    private long untoldSinceNanos;

    /** The last batch of the ring that went there past the spill. */
    private long barrier = -1;

    private SpilledFlow(
            Pipeline ring,
            Spill spill,
            SpillPlace place,
            FeedSource source,
            FeedMeters meters,
            Tasks tasks) {
        this.ring = ring;
        this.spill = spill;
        this.place = place;
        this.source = source;
        this.meters = meters;
        this.tasks = tasks;
    }

    /**
     * A flow in front of {@code ring}, which it closes.
     *
     * @param source is told what is in the spill for good, if it can't go back
     * @param lost is told of a file, and how it is: what was acknowledged and lay in it can't be
     *     delivered, and somebody has said to go on
     * @throws io.turbidite.core.CorruptionException if a file of what was left is missing
     */
    public static SpilledFlow open(
            Pipeline ring,
            SpillPlace place,
            FeedSource source,
            FeedMeters meters,
            Tasks tasks,
            BiConsumer<String, String> lost) {
        try (Undo undo = Undo.of(ring::close)) {
            SpilledFlow flow = new SpilledFlow(
                    ring, Spill.open(place, lost::accept), place, source, meters, tasks);
            meters.spillsTo(flow);
            return undo.keep(flow);
        }
    }

    @Override
    public Batch claim() {
        while (!hasRoom()) {
            tasks.await(() -> hasRoom() || canMoveOn());
            moveOn();
        }
        if (isClaimed) {
            return own;
        }
        if (ring.hasFailed() || (isPassedOn() && ring.hasRoom())) {
            return ring.claim();
        }
        isClaimed = true;
        return own;
    }

    @Override
    public boolean isPassedOn() {
        return spill.isEmpty() && !isHeld;
    }

    @Override
    public boolean hasRoom() {
        return ring.hasFailed()
                || hasClaim()
                || (!isHeld && (spill.hasRoom() || (spill.isEmpty() && ring.hasRoom())));
    }

    @Override
    public boolean hasClaim() {
        return isClaimed || (isPassedOn() && ring.hasClaim());
    }

    @Override
    public void publish() {
        if (!isClaimed) {
            ring.publish();
            return;
        }
        isClaimed = false;
        if (place.isAcknowledged()) {
            for (Rejection rejection : own.rejections()) {
                source.rejected(own.partition(), rejection);
            }
            own.forEachDropped(at -> source.dropped(own.partition(), at));
            own.tell();
        }
        isHeld = !spill(false);
    }

    private boolean spill(boolean isForced) {
        boolean isFirst = spill.isEmpty();
        long before = spill.usedBytes();
        if (!spill.append(own, isForced)) {
            return false;
        }
        long bytes = Math.max(0, spill.usedBytes() - before);
        spilledCount.addAndGet(own.recordCount());
        meters.spilled(own, bytes);
        if (isFirst) {
            barrier = ring.published();
        }
        if (place.isAcknowledged()) {
            if (untold.isEmpty()) {
                untoldSinceNanos = meters.nanos();
            }
            untold.put(own.partition(), own.position());
            untoldBytes += bytes;
        }
        own.clear();
        return true;
    }

    @Override
    public boolean moveOn() {
        if (ring.hasFailed()) {
            ring.drain(); // which says how
        }
        while ((!spill.isEmpty() || isHeld) && ring.hasRoom()) {
            Batch batch = ring.claim();
            if (spill.isEmpty()) {
                copyOwn(batch);
            } else if (!spill.next(batch)) {
                continue; // what was left has ended
            }
            if (batch.leftover() != Batch.Leftover.NONE) {
                batch.begunAt(meters.nanos()); // another process counted from elsewhere
            }
            ring.publish();
            spill.moved(ring.published());
        }
        spill.release(ring::isTaken);
        if (isHeld && spill.hasRoom()) {
            isHeld = !spill(false);
        }
        if (isDue()) {
            tellSource();
        }
        return spill.hasLeftovers();
    }

    private void copyOwn(Batch target) {
        ByteSink copy = new ByteSink(64 << 10, Integer.MAX_VALUE - 16);
        own.write(copy);
        target.read(new FrameReader().of("memory", 0, copy.segment(), 0, copy.length()));
        own.clear();
        isHeld = false;
    }

    private boolean canTell() {
        return !untold.isEmpty() && ring.isTaken(barrier);
    }

    private boolean isDue() {
        return canTell()
                && (untoldBytes >= GROUP_BYTES || meters.nanos() - untoldSinceNanos >= GROUP_NANOS);
    }

    @Override
    public void rest() {
        if (canTell()) {
            tellSource();
        }
    }

    private void tellSource() {
        spill.acknowledge();
        untold.forEach(source::durable);
        untold.clear();
        untoldBytes = 0;
    }

    @Override
    public boolean canMoveOn() {
        return ring.hasFailed()
                || (!isPassedOn() && ring.hasRoom())
                || spill.canRelease(ring::isTaken)
                || isDue();
    }

    @Override
    public boolean isBehind() {
        return ring.isBehind();
    }

    @Override
    public boolean isDrained() {
        return ring.hasFailed() || (isPassedOn() && ring.isDrained());
    }

    @Override
    public boolean isSettled() {
        return ring.isDrained();
    }

    @Override
    public boolean hasFailed() {
        return ring.hasFailed();
    }

    /** Of a source that goes back the next run reads what is in the spill again. */
    @Override
    public void drain() {
        ring.drain();
        if (!place.isAcknowledged()) {
            return;
        }
        isHeld = isHeld && !spill(true);
        while (isHeld) { // the disk is full
            tasks.await(this::canMoveOn);
            moveOn();
        }
        ring.drain();
        rest();
    }

    @Override
    public long spilledCount() {
        return spilledCount.get();
    }

    @Override
    public long spillBytes() {
        return spill.waitingBytes();
    }

    long waitingCount() {
        return spill.waitingCount();
    }

    /** Of the spill's bound, from 0 to 100. */
    long percent() {
        return Math.min(100, 100 * spill.usedBytes() / place.bytesMax());
    }

    @Override
    public void close() {
        new Cleanup()
                .add(ring::close)
                .add(() -> spill.release(ring::isTaken))
                .add(spill::close)
                .run();
    }
}
