package io.turbidite.ops.cluster;

import io.turbidite.core.Cleanup;
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
 * readers are told that it is not all. A task whose input was cut off fails too, whatever the
 * engine makes of it: that has a task end well whose second input failed.
 *
 * <p><em>Thread-safe by one lock</em>, held while the stage works; a thread that waits for its
 * frame to be read does not hold it.
 */
final class StageTask implements IOperatorNodePushable {
    private final IHyracksTaskContext context;
    private final JobStage stage;
    private final int instance;
    private final String where;
    private final Life life;
    private final InputEnds ends;
    private final List<Input> inputs = new ArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();

    /** A slot became free, or the task is over. */
    private final Condition changed = lock.newCondition();

    /**
     * How a task begins and ends.
     *
     * @param rows makes the stage's rows, on the task's thread
     * @param end called last; what it throws is a failure of the task
     */
    record Life(Function<StageTask, Rows> rows, Runnable end) {}

    private @Nullable StageOutput output;
    private @Nullable Rows rows;
    private int openInputs;
    private boolean isOver;

    /** An input did not come to its end. */
    private boolean isCut;

    private @Nullable Throwable failure;

    /**
     * @param where for messages: the node and the stage
     */
    StageTask(
            IHyracksTaskContext context,
            JobStage stage,
            List<RecordType> inputTypes,
            int instance,
            String where,
            Life life) {
        this.context = context;
        this.stage = stage;
        this.instance = instance;
        this.where = where;
        this.life = life;
        this.ends = InputEnds.of(context);
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
        try {
            output = new StageOutput(stage.output(), stage.type(), instance, writer, context);
        } catch (HyracksDataException | RuntimeException | Error e) {
            // an Error would end the thread by which the engine gives work to its node
            throw Failures.toEngine(where, e);
        }
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
            rows = life.rows().apply(this);
            if (inputs.isEmpty()) {
                move(rows);
            }
        } catch (HyracksDataException | RuntimeException | Error e) {
            throw failed(e);
        } finally {
            lock.unlock();
        }
    }

    /** Called last: no thread of the task is at work any more. */
    @Override
    public void deinitialize() throws HyracksDataException {
        Throwable first;
        lock.lock();
        try {
            first = failureOf(this::leave, failure);
            first = failureOf(() -> out().close(), first);
        } finally {
            lock.unlock();
        }
        first = failureOf(life.end()::run, first);
        if (first == null && isCut) {
            first = new IllegalStateException("an input was cut off");
        }
        if (first != null) {
            throw Failures.toEngine(where, first);
        }
    }

    /** Ends the stage if its inputs were never opened: the task was stopped before. */
    private void leave() throws HyracksDataException {
        if (!isOver) {
            isCut = true;
            abandon();
        }
    }

    /** A step of the end of a task. */
    private interface Step {
        void run() throws HyracksDataException;
    }

    /** The first failure, to which what a step throws is attached. */
    @SuppressWarnings("ReferenceEquality") // an exception can't be attached to itself
    private static @Nullable Throwable failureOf(Step step, @Nullable Throwable first) {
        try {
            step.run();
            return first;
        } catch (HyracksDataException | RuntimeException | Error e) {
            if (first == null) {
                return e;
            }
            if (e != first) {
                first.addSuppressed(e);
            }
            return first;
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
            new Cleanup().add(this::closeRows).runAfter(cause);
            try {
                out().fail();
            } catch (HyracksDataException | RuntimeException | Error e) {
                if (e != cause) {
                    cause.addSuppressed(e);
                }
            }
        }
        return Failures.toEngine(where, first);
    }

    /** Ends the stage without the rest of its rows, and tells the readers so. */
    private void abandon() throws HyracksDataException {
        over();
        try {
            closeRows();
        } catch (RuntimeException | Error e) {
            throw failed(e);
        }
        out().fail();
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

        /** A sender failed, or the connection with it; its reader has waited for the cause. */
        @Override
        public void fail() throws HyracksDataException {
            lock.lock();
            try {
                isCut = true;
                if (!isOver) {
                    abandon();
                }
            } finally {
                lock.unlock();
            }
        }

        /** Called whatever the reader met: see {@link InputEnds}. */
        @Override
        public void close() throws HyracksDataException {
            boolean hasAll = ends.take();
            lock.lock();
            try {
                if (isEnded) {
                    return;
                }
                if (!hasAll) {
                    isCut = true;
                    if (!isOver) {
                        abandon();
                    }
                }
                isEnded = true;
                openInputs--;
                if (!isOver) {
                    moveAll();
                }
                if (openInputs == 0 && !isOver) {
                    throw failed(new IllegalStateException(
                            "it waits for rows although all its inputs have ended"));
                }
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
