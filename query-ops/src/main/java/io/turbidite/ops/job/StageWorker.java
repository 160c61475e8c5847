package io.turbidite.ops.job;

import io.turbidite.core.Cleanup;
import io.turbidite.core.task.Tasks;
import io.turbidite.ops.exchange.ExchangeWriter;
import io.turbidite.ops.run.Rows;

import org.jspecify.annotations.Nullable;

/**
 * Moves the rows of one instance of a stage into an exchange, step by step. <em>Confined to one
 * thread at a time</em>, but for {@link #wake}.
 */
final class StageWorker implements AutoCloseable {
    /** Rows that a step moves at most: some tens of microseconds. */
    private static final int ROWS_A_STEP = 1_024;

    private final JobRun job;
    private final Rows rows;
    private final ExchangeWriter writer;
    private final Turn turn;
    private volatile Tasks.@Nullable Worker worker;
    private volatile boolean woken;

    /** There is a row that was not sent for want of room. */
    private boolean hasRow;

    private boolean atEnd;

    /** What else fails is attached to it. */
    private @Nullable Throwable failed;

    private boolean done;

    /**
     * What an instance has of its worker: a source stops after some rows, so that the worker is not
     * kept in a step by an operator that reads all. <em>Confined to one thread at a time.</em>
     */
    static final class Turn {
        private boolean paused;

        /** There are more rows at once, and it is time to end the step. */
        void pause() {
            paused = true;
        }

        /** Whether rows paused although there are more. */
        boolean takePause() {
            boolean was = paused;
            paused = false;
            return was;
        }
    }

    /**
     * @param rows of the last operator of the stage
     * @param turn whose sources are in {@code rows}
     */
    StageWorker(JobRun job, Rows rows, ExchangeWriter writer, Turn turn) {
        this.job = job;
        this.rows = rows;
        this.writer = writer;
        this.turn = turn;
    }

    void startedAs(Tasks.Worker handle) {
        worker = handle;
    }

    /** It may find rows or room. */
    void wake() {
        woken = true;
        Tasks.Worker handle = worker;
        if (handle != null) {
            handle.wake();
        }
    }

    /** Whether it was woken since the last call. */
    boolean takeWake() {
        boolean was = woken;
        woken = false;
        return was && !done;
    }

    /** Moves some rows; returns whether there may be more to do at once. */
    @SuppressWarnings("CatchingUnchecked") // handed to the reader, whatever it is
    boolean step() {
        if (done) {
            return false;
        }
        try {
            if (job.isStopped() || !writer.isWanted()) {
                close();
                return false;
            }
            return move();
        } catch (RuntimeException | Error e) {
            fail(e); // before a consumer sees an end, and takes it for that of the rows
            new Cleanup().add(this::close).runAfter(e);
            return false;
        }
    }

    private boolean move() {
        for (int i = 0; i < ROWS_A_STEP; i++) {
            if (!hasRow && !atEnd) {
                hasRow = rows.next();
                if (!hasRow && rows.isPaused()) {
                    return turn.takePause();
                }
                atEnd = !hasRow;
            }
            if (atEnd) {
                if (writer.flush()) {
                    close();
                }
                return false;
            }
            if (!writer.send(rows.row())) {
                return false;
            }
            hasRow = false;
        }
        return true;
    }

    /**
     * Ends it, also before its rows do; more than once does no harm. The rows first: who sees the
     * end of what was sent sees a failure too, if there was one.
     */
    @Override
    public void close() {
        if (!done) {
            done = true;
            new Cleanup().add(this::closeRows).add(writer::close).run();
        }
    }

    private void closeRows() {
        try {
            rows.close();
        } catch (RuntimeException | Error e) {
            fail(e);
            throw e;
        }
    }

    /** Ends the job; one failure is told once. */
    private void fail(Throwable cause) {
        if (failed == null) {
            failed = cause;
            job.fail(cause);
        }
    }
}
