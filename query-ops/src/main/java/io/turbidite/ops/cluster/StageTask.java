package io.turbidite.ops.cluster;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.job.JobStage;
import io.turbidite.ops.run.Rows;

import org.apache.hyracks.api.comm.IFrameWriter;
import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.IOperatorNodePushable;
import org.apache.hyracks.api.dataflow.value.RecordDescriptor;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * One instance of a stage, as a task of the engine. The engine pushes: it has a thread for each
 * input, which hands over one frame after another. A stage pulls: it is a tree of rows that pause
 * where an input has none. Neither needs a thread more, a queue or a copy:
 *
 * <ol>
 *   <li>The thread of an input puts its frame into the input's slot, and moves rows from the stage
 *       to its output until the stage pauses. Rows are read where they lie in the frame.
 *   <li>It keeps the frame, and its sender waiting, until the stage has read it, be it through
 *       itself or through the thread of another input, which brought what the stage waited for. So
 *       a task holds one frame for each input, and a slow reader stops its senders.
 *   <li>A stage without inputs is moved by the task's own thread to its end.
 *   <li>A stage that wants no more, such as a limit, takes what still comes, and drops it.
 * </ol>
 *
 * <p>No ring of full slots can form: a stage has one output, so that a graph is a tree, and a
 * merging connector leads to one instance, from stages that have read all before.
 *
 * <p>A failure of its own is told to the engine with its text (see {@link Failures}), and the
 * readers are told that there is no more. A task that is told so by a sender waits for its end to
 * be ordered, so that the failure which came first is the one that the job has.
 *
 * <p><em>Thread-safe by one lock</em>, held while the stage works; a thread that waits for its
 * frame to be read does not hold it.
 */
final class StageTask implements IOperatorNodePushable {
    /** That long the engine has to stop a task whose sender failed; it takes some milliseconds. */
    static final long ABORT_WAIT_SECONDS = 5;

    private final IHyracksTaskContext context;
    private final JobStage stage;
    private final int instance;
    private final String where;
    private final Function<StageTask, Rows> maker;
    private final List<Input> inputs = new ArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();

    /** A slot became free, or the task is over. */
    private final Condition changed = lock.newCondition();

    private @Nullable StageOutput output;
    private @Nullable Rows rows;
    private int openInputs;
    private boolean isOver;
    private @Nullable Throwable failure;

    /**
     * @param where for messages: the node and the stage
     * @param maker makes the stage's rows, on the task's thread
     */
    StageTask(
            IHyracksTaskContext context,
            JobStage stage,
            List<RecordType> inputTypes,
            int instance,
            String where,
            Function<StageTask, Rows> maker) {
        this.context = context;
        this.stage = stage;
        this.instance = instance;
        this.where = where;
        this.maker = maker;
        for (int i = 0; i < stage.inputs().size(); i++) {
            inputs.add(new Input(
                    inputTypes.get(i),
                    StageOutput.Head.of(stage.inputs().get(i)).fieldCount()));
        }
        this.openInputs = inputs.size();
    }

    /** The rows that come from an operator of another stage. */
    Rows input(String from) {
        for (int i = 0; i < inputs.size(); i++) {
            if (stage.inputs().get(i).from().equals(from)) {
                return inputs.get(i).rows;
            }
        }
        throw new IllegalStateException("stage %s has no input from %s".formatted(stage, from));
    }

    // ---- the engine's side ----------------------------------------------------------------------

    @Override
    public void setOutputFrameWriter(int index, IFrameWriter writer, RecordDescriptor type)
            throws HyracksDataException {
        output = new StageOutput(stage.output(), stage.type(), instance, writer, context);
    }

    @Override
    public int getInputArity() {
        return inputs.size();
    }

    @Override
    public IFrameWriter getInputFrameWriter(int index) {
        return inputs.get(index);
    }

    @Override
    public String getDisplayName() {
        return where;
    }

    @Override
    public void initialize() throws HyracksDataException {
        lock.lock();
        try {
            out().open();
            rows = maker.apply(this);
            if (inputs.isEmpty()) {
                move(rows);
            }
        } catch (HyracksDataException | RuntimeException | Error e) {
            throw failed(e);
        } finally {
            lock.unlock();
        }
    }

    /** Always called, and last: no thread of the task is at work any more. */
    @Override
    public void deinitialize() throws HyracksDataException {
        lock.lock();
        try {
            if (!isOver) {
                // inputs that were never opened: the task was stopped before
                over();
                closeRows();
                out().fail();
            }
            out().close();
        } finally {
            lock.unlock();
        }
        Throwable cause = failure;
        if (cause != null) {
            throw Failures.toEngine(where, cause);
        }
    }

    private StageOutput out() {
        StageOutput made = output;
        if (made == null) {
            throw new IllegalStateException(where + " has no output");
        }
        return made;
    }

    // ---- the stage, with the lock held ----------------------------------------------------------

    /** Moves rows until the stage pauses or ends. */
    private void move(Rows from) throws HyracksDataException {
        while (!isOver) {
            if (from.next()) {
                out().send(from.row());
            } else if (from.isPaused()) {
                return;
            } else {
                // what fails here is told before the readers see an end
                rows = null;
                from.close();
                out().end();
                over();
            }
        }
    }

    private void over() {
        isOver = true;
        changed.signalAll();
    }

    /** Takes note of the first failure of its own, and ends the stage. */
    @SuppressWarnings("ReferenceEquality") // an exception can't be attached to itself
    private HyracksDataException failed(Throwable cause) {
        Throwable first = failure;
        if (first == null) {
            first = cause;
            failure = cause;
            over();
            try {
                closeRows();
                out().fail();
            } catch (HyracksDataException | RuntimeException | Error e) {
                if (e != cause) {
                    cause.addSuppressed(e);
                }
            }
        }
        return Failures.toEngine(where, first);
    }

    private void closeRows() {
        Rows open = rows;
        if (open != null) {
            rows = null;
            open.close();
        }
    }

    /** An input's slot, into which the engine's thread puts frames. */
    private final class Input implements IFrameWriter {
        final TupleFrame frame;
        final InputRows rows;
        boolean isFull;
        boolean isEnded;
        boolean isUnwanted;

        Input(RecordType type, int fieldCount) {
            this.frame = new TupleFrame(fieldCount);
            this.rows = new InputRows(this, type);
        }

        @Override
        public void open() {
            // the output is open since the task began
        }

        @Override
        public void nextFrame(ByteBuffer buffer) throws HyracksDataException {
            boolean locked = false;
            try {
                lock.lockInterruptibly();
                locked = true;
                if (isOver || isUnwanted) {
                    return;
                }
                frame.set(buffer);
                isFull = true;
                moveAll();
                while (isFull && !isOver) {
                    changed.await();
                }
            } catch (InterruptedException e) {
                throw HyracksDataException.create(e);
            } finally {
                if (locked) {
                    free();
                    lock.unlock();
                }
            }
        }

        private void moveAll() throws HyracksDataException {
            Rows from = StageTask.this.rows;
            if (from == null) {
                return;
            }
            try {
                move(from);
            } catch (HyracksDataException | RuntimeException | Error e) {
                throw failed(e);
            }
        }

        /** The frame is the engine's again. */
        void free() {
            isFull = false;
            frame.clear();
        }

        /** The sender failed: no failure of this task, whose end comes from elsewhere. */
        @Override
        public void fail() throws HyracksDataException {
            lock.lock();
            try {
                if (isOver) {
                    return;
                }
                over();
                closeRows();
                out().fail();
                long left = TimeUnit.SECONDS.toNanos(ABORT_WAIT_SECONDS);
                while (left > 0) {
                    left = changed.awaitNanos(left);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() throws HyracksDataException {
            lock.lock();
            try {
                if (isEnded) {
                    return;
                }
                isEnded = true;
                openInputs--;
                if (!isOver) {
                    moveAll();
                }
                assert openInputs > 0 || isOver : "a stage waits for inputs that have ended";
            } finally {
                lock.unlock();
            }
        }
    }

    /** What the stage takes out of a slot. */
    private final class InputRows implements Rows {
        private final Input input;
        private final RecordView row;
        private final Slice bytes = new Slice();
        private boolean isPaused;

        InputRows(Input input, RecordType type) {
            this.input = input;
            this.row = new RecordView(type);
        }

        @Override
        public boolean next() {
            isPaused = false;
            if (input.isUnwanted) {
                return false;
            }
            if (input.frame.hasNext()) {
                row.wrap(input.frame.next(bytes));
                return true;
            }
            if (input.isFull) {
                input.free();
                changed.signalAll();
            }
            isPaused = !input.isEnded;
            return false;
        }

        @Override
        public boolean isPaused() {
            return isPaused;
        }

        @Override
        public RecordView row() {
            return row;
        }

        /** What still comes is dropped. */
        @Override
        public void close() {
            if (!input.isUnwanted) {
                input.isUnwanted = true;
                input.free();
                changed.signalAll();
            }
        }
    }
}
