package io.turbidite.ops;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.LayerFiles;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorWork;
import io.turbidite.ops.plan.PlanStep;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.plan.StepTimes;
import io.turbidite.ops.run.Rows;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * The rows of a query, computed on demand: a cursor, and on top of it maps and JSON lines.
 *
 * <em>For one thread at a time</em>: the result refuses a second call while one is under way, and
 * refuses to read a row that another thread has moved away from. It may be handed to another
 * thread, whose first call is then {@link #next()}. Any thread may {@link #close} it: a running
 * call ends first. It keeps a snapshot until it reaches its end or is closed: close it. A later use
 * throws {@link ClosedException}; {@link #explain()} and {@link #rowType()} still work.
 */
public final class QueryResult implements Iterable<Map<String, @Nullable Object>>, AutoCloseable {
    /** JSON goes to the stream in pieces of about this size. */
    private static final int JSON_BYTES = 64 << 10;

    private final String dataset;
    private final ResultPlan plan;
    private final Rows rows;
    private final List<ReadView> ownedViews;
    private final RecordView row;
    private final Turns turns = new Turns();
    private boolean onRow;
    private boolean ended;
    private boolean released;

    /** The thread that moved last; null before the first move. */
    private @Nullable Thread mover;

    private long moveCount;

    private QueryResult(String dataset, ResultPlan plan, List<ReadView> ownedViews) {
        this.dataset = dataset;
        this.plan = plan;
        this.ownedViews = ownedViews;
        this.rows = plan.rows();
        this.row = rows.row();
    }

    /**
     * Plans a query and starts it.
     *
     * @param view what it reads; null: a new view, which the result closes
     */
    static QueryResult start(
            Source source,
            @Nullable ReadView view,
            Function<ReadView, ? extends ResultPlan> planner) {
        if (view != null) {
            return new QueryResult(source.name(), planner.apply(view), List.of());
        }
        ReadView moment = source.openView();
        QueryResult result = null;
        try {
            result = new QueryResult(source.name(), planner.apply(moment), List.of(moment));
            return result;
        } finally {
            if (result == null) {
                moment.close();
            }
        }
    }

    /** Starts what reads these views, and closes with it those that were opened for it. */
    static QueryResult start(Moments moments, ResultPlan plan) {
        return new QueryResult(moments.names(), plan, List.copyOf(moments.opened()));
    }

    /** Plans a query without running it; otherwise as {@link #start}. */
    static Explanation explain(
            Source source,
            @Nullable ReadView view,
            Function<ReadView, ? extends ResultPlan> planner) {
        if (view != null) {
            return explanation(source.name(), planner.apply(view), false);
        }
        try (ReadView moment = source.openView()) {
            return explanation(source.name(), planner.apply(moment), false);
        }
    }

    /** Declared fields of a row; whole records may have more. */
    public RecordType rowType() {
        return plan.rowType();
    }

    /** Moves to the next row. False at the end; everything is released then. */
    public boolean next() {
        turns.enter();
        try {
            return move();
        } finally {
            leave();
        }
    }

    /** Moves; the caller has the turn. */
    private boolean move() {
        turns.checkOpen();
        onRow = false;
        moveCount++;
        mover = Thread.currentThread();
        if (ended) {
            return false;
        }
        try {
            onRow = rows.next();
        } catch (RuntimeException | Error e) {
            ended = true;
            new Cleanup().add(this::release).runAfter(e);
            throw e;
        }
        if (!onRow) {
            ended = true;
            release();
        }
        return onRow;
    }

    /**
     * The current row in place, without copying. The same object for all rows, valid until the next
     * move or the close, whoever closes: then other queries use its memory, and reading on may show
     * their rows. {@link #map} gives a copy.
     */
    public RecordView row() {
        turns.checkOpen();
        checkMover();
        if (!onRow) {
            throw new InvalidRequestException("the result is not on a row: call next() first");
        }
        return row;
    }

    private void checkMover() {
        if (mover != null && !mover.equals(Thread.currentThread())) {
            throw new InvalidRequestException(
                    "another thread has moved the result: a row is read by the thread that called"
                            + " next(), one thread at a time");
        }
    }

    /** The current row's fields, in order, without missing fields. */
    public Map<String, @Nullable Object> map() {
        turns.enter();
        try {
            return row().toMap();
        } finally {
            leave();
        }
    }

    /** Appends the current row as one JSON object, without a line break. */
    public void toJson(ByteSink utf8) {
        turns.enter();
        try {
            row().toJson(utf8);
        } finally {
            leave();
        }
    }

    /** The remaining rows, one at a time; a view on {@link #next()}. */
    @Override
    public Iterator<Map<String, @Nullable Object>> iterator() {
        return new Maps();
    }

    /**
     * Makes the map of a row in the turn in which it moves there: so that a row takes one turn, not
     * two.
     */
    private final class Maps implements Iterator<Map<String, @Nullable Object>> {
        private boolean ready;
        private @Nullable Map<String, @Nullable Object> fields;

        /** The move that led to the row of {@link #fields}. */
        private long move;

        @Override
        public boolean hasNext() {
            ready = ready || step();
            return ready;
        }

        private boolean step() {
            turns.enter();
            try {
                if (!move()) {
                    return false;
                }
                fields = row.toMap();
                move = moveCount;
                return true;
            } finally {
                leave();
            }
        }

        @Override
        public Map<String, @Nullable Object> next() {
            if (!hasNext()) {
                throw new NoSuchElementException("no more rows");
            }
            ready = false;
            Map<String, @Nullable Object> made = fields;
            fields = null;
            if (made == null || move != moveCount) {
                return map(); // the result was moved on since, not by this
            }
            turns.checkOpen();
            checkMover();
            return made;
        }
    }

    /** The remaining rows, all in memory. */
    public List<Map<String, @Nullable Object>> toList() {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        turns.enter();
        try {
            while (move()) {
                rows.add(row.toMap());
            }
        } finally {
            leave();
        }
        return rows;
    }

    /**
     * Writes the remaining rows, one JSON object a line, and flushes.
     *
     * @return how many rows it wrote
     * @throws UncheckedIOException if the stream fails
     */
    public long forEachJson(OutputStream out) {
        ByteSink lines = new ByteSink(JSON_BYTES, Integer.MAX_VALUE - 8);
        long count = 0;
        turns.enter();
        try {
            while (move()) {
                row.toJson(lines);
                lines.putByte('\n');
                count++;
                if (lines.length() >= JSON_BYTES) {
                    write(lines, out);
                }
            }
            write(lines, out);
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            leave();
        }
        return count;
    }

    private static void write(ByteSink lines, OutputStream out) throws IOException {
        byte[] bytes = new byte[lines.length()];
        MemorySegment.copy(lines.segment(), Bytes.U8, 0, bytes, 0, bytes.length);
        out.write(bytes);
        lines.clear();
    }

    /** The count of a count query, else the number of remaining rows; reads them. */
    public long count() {
        long count = 0;
        turns.enter();
        try {
            while (move()) {
                count = plan.isCount() ? row.getLong(0) : count + 1;
            }
        } finally {
            leave();
        }
        return count;
    }

    /** How the query is answered, with the rows that each operator has handed on so far. */
    public Explanation explain() {
        return explanation(dataset, plan, true);
    }

    static Explanation explanation(String dataset, ResultPlan plan, boolean ran) {
        List<PlanStep> steps = plan.steps();
        List<OptionalLong> times = StepTimes.of(steps);
        LayerFiles all = steps.stream()
                .map(step -> step.layers().files())
                .reduce(LayerFiles.NONE, LayerFiles::plus);
        List<Explanation.Operator> operators = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            PlanStep step = steps.get(i);
            operators.add(new Explanation.Operator(
                    step.name(),
                    step.detail(),
                    step.estimatedRows() < 0
                            ? OptionalLong.empty()
                            : OptionalLong.of(step.estimatedRows()),
                    ran ? OptionalLong.of(step.meter().rows()) : OptionalLong.empty(),
                    step.depth(),
                    ran ? work(step, times.get(i), all) : Explanation.Work.NONE));
        }
        List<Explanation.Choice> considered = plan.choices().stream()
                .map(way -> new Explanation.Choice(way.access(), way.cost(), way.chosen()))
                .toList();
        return new Explanation(dataset, plan.access(), operators, considered);
    }

    private static Explanation.Work work(PlanStep step, OptionalLong cpuNanos, LayerFiles all) {
        OperatorWork work = step.meter().workSoFar();
        return new Explanation.Work(
                cpuNanos,
                work == null ? 0 : work.memoryBytesMax(),
                work == null ? 0 : work.spilledBytes(),
                step.layers().pageCount(),
                step.layers().ruledOutCount(),
                step.layers().files().unread(all));
    }

    /** Drops the unread rows. */
    @Override
    public void close() {
        if (turns.close()) {
            release();
        }
    }

    private void leave() {
        if (turns.leave()) {
            release();
        }
    }

    /** Releases everything, once. */
    private void release() {
        if (released) {
            return;
        }
        released = true;
        new Cleanup().add(rows::close).addAll(ownedViews, ReadView::close).run();
    }
}
