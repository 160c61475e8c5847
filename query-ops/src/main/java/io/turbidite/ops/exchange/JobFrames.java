package io.turbidite.ops.exchange;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.Pool;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.ops.frame.Frame;

import org.jspecify.annotations.Nullable;

import java.util.Locale;

/**
 * The frames of one job, each of one row's field. They are kept from one job to the next; what a
 * job holds of them is charged to an account.
 *
 * <p>A row that is longer than a frame has one of its own, for which there is what the account has
 * beyond all ordinary frames: so an ordinary frame is never refused.
 *
 * <p>Where the query has a share of its store's memory for queries, all that the job may hold is
 * taken from it with the first frame: frames are smaller where there is not as much. <em>Thread-
 * safe.</em>
 */
public final class JobFrames implements AutoCloseable {
    /** Most that a frame holds, unless a single row is longer. */
    public static final int FRAME_BYTES_MAX = 64 << 10;

    /** Less would be all overhead. */
    public static final int FRAME_BYTES_MIN = 4 << 10;

    private static final Pool<Frame> POOL = new Pool<>(() -> new Frame(1).clear(FRAME_BYTES_MAX));

    private final MemoryBudget.Account account;
    private final long frameCountMax;
    private final QueryMemory.@Nullable Share share;
    private final long longBytesMax;
    private final int laneCount;
    private volatile int frameBytes;

    /** Of frames of one long row; under the monitor. */
    private long longBytes;

    // ---- held of the share; changed under the monitor
    /** Set when {@link #frameBytes} is what it stays. */
    private volatile boolean entered;

    private long leastBytes;
    private long drawnBytes;

    /**
     * @param account what frames are charged to; room for all that the exchanges may hold
     * @param frameBytes of each, from {@link #FRAME_BYTES_MIN} to {@link #FRAME_BYTES_MAX}
     * @param frameCountMax the most that there are at once
     * @param laneCount of all exchanges
     * @param share null: nobody counts
     */
    public JobFrames(
            MemoryBudget.Account account,
            int frameBytes,
            long frameCountMax,
            int laneCount,
            QueryMemory.@Nullable Share share) {
        this.account = account;
        this.frameBytes = frameBytes;
        this.frameCountMax = frameCountMax;
        this.laneCount = laneCount;
        this.longBytesMax = account.bytesMax() - frameCountMax * frameBytes;
        this.share = share;
    }

    /** Takes all that the frames may be from the share, once. */
    private synchronized void enter(QueryMemory.Share of) {
        if (entered) {
            return;
        }
        of.enter();
        int bytes = frameBytes;
        while (!of.draw(frameCountMax * bytes)) {
            if (bytes == FRAME_BYTES_MIN) {
                drawLeast(of);
                frameBytes = bytes;
                entered = true;
                return;
            }
            bytes = Math.max(FRAME_BYTES_MIN, bytes / 2);
        }
        drawnBytes = frameCountMax * bytes;
        frameBytes = bytes;
        // last: who reads it without the monitor takes frames of these bytes
        entered = true;
    }

    /** Takes what the smallest frames need of what the query has for certain. */
    private void drawLeast(QueryMemory.Share of) {
        long bytes = frameCountMax * FRAME_BYTES_MIN;
        leastBytes = of.takeOfLeast(bytes);
        if (leastBytes < bytes) {
            of.giveOfLeast(leastBytes);
            leastBytes = 0;
            of.leave();
            throw new QueryMemoryException(String.format(
                    Locale.ROOT,
                    "the workers of a job need %,d bytes for their frames, but queries hold %s: use fewer partitions, close results, or raise queryMemoryBytes",
                    bytes,
                    of.held()));
        }
    }

    /** Gives everything back to the share; after all frames. */
    @Override
    public synchronized void close() {
        if (share != null && entered) {
            entered = false;
            share.giveBack(drawnBytes);
            share.giveOfLeast(leastBytes);
            drawnBytes = 0;
            leastBytes = 0;
            share.leave();
        }
    }

    private void enter() {
        if (share != null && !entered) {
            enter(share);
        }
    }

    /** An empty frame. */
    Frame take() {
        enter();
        if (!account.reserve(frameBytes)) {
            throw new IllegalStateException(
                    "more frames are in use than a job may have: " + account);
        }
        Frame frame = frameBytes == FRAME_BYTES_MAX ? POOL.take() : new Frame(1);
        return frame.clear(frameBytes);
    }

    /** What frames of long rows may hold in each lane, where it has more than one. */
    long laneBytesMax() {
        return longBytesMax / laneCount;
    }

    /** Takes what a frame of one long row needs; false where there is no room now. */
    boolean reserveLong(long bytes) {
        enter();
        synchronized (this) {
            if (bytes > Math.min(Integer.MAX_VALUE, longBytesMax - longBytes)
                    || !account.reserve(bytes)) {
                return false;
            }
            if (share != null && !share.draw(bytes)) {
                account.release(bytes);
                return false;
            }
            longBytes += bytes;
            return true;
        }
    }

    /** Gives back what {@link #reserveLong} took. */
    synchronized void releaseLong(long bytes) {
        longBytes -= bytes;
        account.release(bytes);
        if (share != null) {
            share.giveBack(bytes);
        }
    }

    /** A row that no frame can be had for. */
    InvalidRequestException tooLong(long bytes) {
        return new InvalidRequestException(String.format(
                Locale.ROOT,
                "a row of %,d bytes does not fit the %,d bytes that the exchanges of a job may use, %,d of them for its other frames: raise memoryBytesMax%s",
                bytes,
                account.bytesMax(),
                account.bytesMax() - longBytesMax,
                share == null ? "" : ", or close results: queries hold " + share.held()));
    }

    /** Whether a frame was made for one long row: all others have the same bytes. */
    boolean isLong(Frame frame) {
        return frame.bytes() > frameBytes;
    }

    void give(Frame frame) {
        assert !isLong(frame) : "its lane has it";
        account.release(frame.bytes());
        if (frame.bytes() == FRAME_BYTES_MAX) {
            POOL.give(frame);
        }
    }

    /** The most bytes that were in use at once. */
    public long bytesPeak() {
        return account.bytesPeak();
    }
}
