package io.turbidite.ops.cluster;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.apache.hyracks.api.comm.IFrameWriter;
import org.apache.hyracks.api.dataflow.IOperatorNodePushable;
import org.apache.hyracks.api.dataflow.value.RecordDescriptor;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The rows of a job's result, as they come from the engine, one frame at a time: the sender waits
 * until the reader has read it. The end of the rows is told when the job has ended well on all
 * nodes, so that no failure is passed over. A failure is told when the job has ended too, so that
 * nothing of it is left; but a node that does not answer keeps no reader waiting for longer than
 * {@link #FAILED_WAIT_NANOS}.
 *
 * <p>The reader's calls are <em>confined to one thread at a time</em>; the engine's come from
 * others. One lock guards the slot; a frame under reading is the reader's, without the lock.
 */
final class Delivery implements Rows {
    /** A reader that waits looks that often whether it is to stop. */
    private static final long STOP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** That long a reader waits for the end of a job that has failed; it takes milliseconds. */
    private static final long FAILED_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);

    /** That long a reader that goes waits for the tasks to end; they take some milliseconds. */
    private static final long END_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Clock clock = Clock.system();
    private final RecordView row;
    private final RunOptions options;
    private final Slice bytes = new Slice();
    private final TupleFrame frame = new TupleFrame(1);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Tells the engine to stop the job. */
    private Runnable cancel = () -> {};

    private boolean isReading;
    private boolean isFull;
    private boolean isAtEnd;
    private boolean isClosed;
    private boolean isCut;
    private boolean isFinished;
    private @Nullable Throwable failure;

    /** When the failure was told, by the clock. */
    private long failedNanos;

    /**
     * @param row on which the rows stand
     */
    Delivery(RecordView row, RunOptions options) {
        this.row = row;
        this.options = options;
    }

    // ---- the engine's side ----------------------------------------------------------------------

    /** The task that takes the rows. */
    IOperatorNodePushable task(InputEnds ends) {
        return new Task(ends);
    }

    /** The engine has the job. */
    void startedAs(Runnable canceller) {
        boolean gone;
        lock.lock();
        try {
            cancel = canceller;
            gone = isClosed;
        } finally {
            lock.unlock();
        }
        if (gone) {
            canceller.run();
        }
    }

    /** A task failed; the others are ended now. */
    void failed(Throwable cause) {
        lock.lock();
        try {
            if (failure == null && !isFinished) {
                failure = cause;
                failedNanos = clock.monotonicNanos();
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * No task of the job is at work any more.
     *
     * @param cause null: it went well
     */
    void finished(@Nullable Throwable cause) {
        lock.lock();
        try {
            isFinished = true;
            if (failure == null) {
                failure = cause;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private final class Task implements IOperatorNodePushable, IFrameWriter {
        private final InputEnds ends;

        Task(InputEnds ends) {
            this.ends = ends;
        }

        @Override
        public void initialize() {
            // the reader is there
        }

        /** The reader is told by what the job ends with. */
        @Override
        public void deinitialize() throws HyracksDataException {
            lock.lock();
            try {
                if (isCut || !isAtEnd) {
                    throw Failures.toEngine(
                            Senders.where(ClusterController.DOOR, "delivery"),
                            new IllegalStateException("the rows were cut off"));
                }
            } finally {
                lock.unlock();
            }
        }

        @Override
        public int getInputArity() {
            return 1;
        }

        @Override
        public void setOutputFrameWriter(int index, IFrameWriter writer, RecordDescriptor type) {
            throw new IllegalStateException("a delivery has no output");
        }

        @Override
        public IFrameWriter getInputFrameWriter(int index) {
            return this;
        }

        @Override
        public String getDisplayName() {
            return "delivery";
        }

        @Override
        public void open() {
            // nothing to open
        }

        @Override
        public void nextFrame(ByteBuffer buffer) throws HyracksDataException {
            lock.lock();
            try {
                if (isClosed) {
                    return;
                }
                frame.set(buffer);
                isFull = true;
                changed.signalAll();
                while (isFull && !isClosed) {
                    changed.await();
                }
            } catch (InterruptedException e) {
                throw HyracksDataException.create(e);
            } finally {
                lock.unlock();
            }
        }

        /** The failure that made it comes with the end of the job. */
        @Override
        public void fail() {
            lock.lock();
            try {
                isCut = true;
            } finally {
                lock.unlock();
            }
        }

        /** Called whatever the reader met: see {@link InputEnds}. */
        @Override
        public void close() {
            boolean hasAll = ends.take();
            lock.lock();
            try {
                isAtEnd = hasAll;
                isCut |= !hasAll;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    // ---- the reader -----------------------------------------------------------------------------

    @Override
    public boolean next() {
        while (!isReading || !frame.hasNext()) {
            if (!awaitFrame()) {
                return false;
            }
        }
        row.wrap(frame.next(bytes));
        return true;
    }

    /** Until there is a frame; false: there are no more. */
    private boolean awaitFrame() {
        lock.lock();
        try {
            if (isReading) {
                isReading = false;
                isFull = false;
                changed.signalAll();
            }
            while (true) {
                if (failure != null) {
                    // what a stage behind the failed one has made may lack rows
                    awaitEnd(failedWaitNanos());
                    throw Failures.ofJob(failure);
                }
                if (isFull) {
                    break;
                }
                if (isFinished) {
                    if (!isAtEnd) {
                        throw Failures.ofJob(null);
                    }
                    return false;
                }
                if (options.stop().getAsBoolean()) {
                    throw new CancellationException("the query was stopped");
                }
                long _ = changed.awaitNanos(STOP_NANOS);
            }
            isReading = true;
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("the reader of a job was interrupted");
        } finally {
            lock.unlock();
        }
    }

    @Override
    public RecordView row() {
        return row;
    }

    /** Stops the job, unless it has ended, and waits until nothing of it is left. */
    @Override
    public void close() {
        Runnable canceller;
        lock.lock();
        try {
            if (isClosed) {
                return;
            }
            isClosed = true;
            changed.signalAll();
            if (isFinished) {
                return;
            }
            canceller = cancel;
        } finally {
            lock.unlock();
        }
        canceller.run();
        lock.lock();
        try {
            awaitEnd(failure == null ? END_WAIT_NANOS : failedWaitNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    private long failedWaitNanos() {
        return failedNanos + FAILED_WAIT_NANOS - clock.monotonicNanos();
    }

    /** Until no task is at work any more. */
    private void awaitEnd(long nanos) throws InterruptedException {
        long left = nanos;
        while (!isFinished && left > 0) {
            left = changed.awaitNanos(left);
        }
    }
}
