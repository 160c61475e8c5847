package io.turbidite.feeds.log;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.join.LookupJoin;
import io.turbidite.ops.run.Job;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.Stage;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A query that joins a log and a dataset: each record that a query finds in the log, newest first,
 * with the record of the dataset whose primary key is in it.
 *
 * <pre>{@code
 * try (LogJoin join = LogJoin.open(log, LogQuery.property("type", "PushEvent"),
 *         new LogJoin.Match(users, List.of("actor.id"), List.of(), false), RunOptions.defaults())) {
 *     while (join.next()) {
 *         use(join.logRecord(), join.record());
 *     }
 * }
 * }</pre>
 *
 * <p><em>Confined to one thread.</em> Of the dataset it shows the moment of its opening, of the log
 * what was visible when the first row was taken. It holds a snapshot and a place in the log, as a
 * {@link io.turbidite.hashlog.LogCursor} does: close it soon.
 */
public final class LogJoin implements AutoCloseable {
    private static final long RECORD_BYTES_MAX = Integer.MAX_VALUE - 16;

    private final ReadView view;
    private final Job job;
    private final Inbox rows = new Inbox();
    private final Slice logRecord = new Slice();
    private final Slice record = new Slice();
    private final OperatorMeter found = new OperatorMeter();
    private final OperatorMeter matched = new OperatorMeter();
    private int nextRow;

    /**
     * What belongs together.
     *
     * @param dataset is looked up by primary key
     * @param on paths of the log's fields that hold the key, in its order
     * @param predicates hold of the dataset's record, or it is as if it were not there
     * @param keepsUnmatched whether records of the log that have no match are shown too
     */
    public record Match(
            Source dataset, List<String> on, List<Predicate> predicates, boolean keepsUnmatched) {
        public Match {
            on = List.copyOf(on);
            predicates = List.copyOf(predicates);
        }
    }

    private LogJoin(HashLog log, LogQuery query, Match match, ReadView view, RunOptions options) {
        this.view = view;
        Source dataset = match.dataset;
        KeySpec key = KeySpec.of(
                dataset.type(),
                dataset.primaryKey(),
                "primary key of " + dataset.name(),
                dataset.keyForm());
        RecordKeys keys = new RecordKeys(log.parser(), match.on, key);
        LookupJoin.Inner inner = new LookupJoin.Inner(
                view,
                Conditions.of(dataset.type(), match.predicates).compile(),
                match.keepsUnmatched,
                (int) Math.min(options.memoryBytesMax(), RECORD_BYTES_MAX));
        LookupJoin join = new LookupJoin(
                inner,
                target -> new LogScanSource(log, query, keys, target, found),
                LogScanSource.FIELD_COUNT,
                rows,
                matched);
        this.job = new Job(List.of(Stage.of(join, rows)), options);
    }

    /**
     * Starts a join.
     *
     * @param options memory for the records got together, and who may stop it
     * @throws io.turbidite.core.InvalidRequestException if the match names what isn't there; what
     *     is wrong with {@code query}, the first {@link #next} tells
     */
    public static LogJoin open(HashLog log, LogQuery query, Match match, RunOptions options) {
        ReadView view = match.dataset.openView();
        try (Undo undo = Undo.of(view::close)) {
            return undo.keep(new LogJoin(log, query, match, view, options));
        }
    }

    /** Moves to the next row; false at the end. */
    public boolean next() {
        boolean more = true;
        while (more && !rows.holds(nextRow)) {
            rows.frame = null;
            nextRow = 0;
            more = job.step();
        }
        Frame frame = rows.frame;
        if (frame == null || !rows.holds(nextRow)) {
            return false;
        }
        frame.field(nextRow, 0, logRecord);
        frame.field(nextRow, 1, record);
        nextRow++;
        return true;
    }

    /** The log's record as it came; valid until the next move. */
    public Slice logRecord() {
        return logRecord;
    }

    /** The dataset's record, encoded; empty if there is none. Valid until the next move. */
    public Slice record() {
        return record;
    }

    /** Records that the query has found in the log so far. */
    public long foundCount() {
        return found.rows();
    }

    /** Those of them that have a match. */
    public long matchedCount() {
        return matched.rows();
    }

    @Override
    public void close() {
        new Cleanup().add(job::close).add(view::close).run();
    }

    /** Keeps the last frame. */
    private static final class Inbox implements FrameWriter {
        private @Nullable Frame frame;

        boolean holds(int row) {
            return frame != null && row < frame.tupleCount();
        }

        @Override
        public void open() {
            frame = null;
        }

        @Override
        public boolean frame(Frame pushed) {
            frame = pushed;
            return true;
        }

        @Override
        public void fail() {
            frame = null;
        }

        @Override
        public void close() {
            // rows of the last frame are still to be read
        }
    }
}
