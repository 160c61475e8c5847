package io.turbidite.ops.exchange;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.Pool;
import io.turbidite.ops.frame.Frame;

import java.util.Locale;

/**
 * The frames of one job, each of one row's field. They are kept from one job to the next; what a
 * job holds of them is charged to an account. <em>Thread-safe.</em>
 */
public final class JobFrames {
    /** Most that a frame holds, unless a single row is longer. */
    public static final int FRAME_BYTES_MAX = 64 << 10;

    /** Less would be all overhead. */
    public static final int FRAME_BYTES_MIN = 4 << 10;

    private static final Pool<Frame> POOL = new Pool<>(() -> new Frame(1).clear(FRAME_BYTES_MAX));

    private final MemoryBudget.Account account;
    private final int frameBytes;

    /**
     * @param account what frames are charged to; room for all that the exchanges may hold
     * @param frameBytes of each, from {@link #FRAME_BYTES_MIN} to {@link #FRAME_BYTES_MAX}
     */
    public JobFrames(MemoryBudget.Account account, int frameBytes) {
        this.account = account;
        this.frameBytes = frameBytes;
    }

    /** An empty frame. */
    Frame take() {
        if (!account.reserve(frameBytes)) {
            throw new IllegalStateException(
                    "more frames are in use than a job may have: " + account);
        }
        Frame frame = frameBytes == FRAME_BYTES_MAX ? POOL.take() : new Frame(1);
        return frame.clear(frameBytes);
    }

    /** Makes an empty frame hold more bytes, for one long row. */
    void enlarge(Frame frame, long bytes) {
        if (bytes > Integer.MAX_VALUE || !account.reserve(bytes - frameBytes)) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "a row of %,d bytes does not fit the %,d bytes that the exchanges of a job may use: raise memoryBytesMax",
                    bytes,
                    account.bytesMax()));
        }
        frame.clear((int) bytes);
    }

    void give(Frame frame) {
        account.release(frame.bytes());
        if (frame.bytes() == FRAME_BYTES_MAX && frameBytes == FRAME_BYTES_MAX) {
            POOL.give(frame);
        }
    }

    /** The most bytes that were in use at once. */
    public long bytesPeak() {
        return account.bytesPeak();
    }
}
