package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

import java.util.function.Function;

/**
 * Index nested-loop join: gives each tuple of an outer source the record of an inner one whose
 * primary key it names, frame by frame, in the outer's order.
 *
 * <ol>
 *   <li>the outer source pushes a frame;
 *   <li>its keys are sorted and their records got together, each component read once from front to
 *       back (LUO19 §3.2);
 *   <li>predicates are tested on the records, and tuples pushed on.
 * </ol>
 *
 * <pre>
 * outer tuple:  encoded primary key (empty: none, which no record has), fields…
 * tuple:        fields…, the record (empty: there is none)
 * </pre>
 *
 * <p><em>Confined to one thread.</em> Memory: the keys of a frame, and their records.
 */
public final class LookupJoin implements FrameSource {
    private static final int KEY_FIELD = 0;

    private final Inner inner;
    private final FrameSource outer;
    private final FrameEmitter output;
    private final OperatorMeter meter;
    private final KeyBatch keys = new KeyBatch(Integer.MAX_VALUE - 8);
    private final RecordBatch records;
    private final RecordView view;
    private final Slice slice = new Slice();
    private final Slice[] tuple;
    private @Nullable Frame frame;
    private int nextTuple;
    private int nextKey;
    private boolean more = true;

    /**
     * What is looked up.
     *
     * @param predicates all must hold of a record, or it is as if it were not there
     * @param keepsUnmatched whether tuples without a record are pushed on
     * @param recordBytesMax most bytes of records got together
     */
    public record Inner(
            ReadView view,
            @SuppressWarnings("ArrayRecordComponent") // nobody compares these
            RecordPredicate[] predicates,
            boolean keepsUnmatched,
            int recordBytesMax) {}

    /**
     * Joins what {@code outer} pushes.
     *
     * @param outer makes the outer source, which pushes into what it is given; closed with this
     * @param fieldCount of the outer's tuples
     * @param meter counts tuples that have a record
     */
    public LookupJoin(
            Inner inner,
            Function<FrameWriter, FrameSource> outer,
            int fieldCount,
            FrameWriter target,
            OperatorMeter meter) {
        this.inner = inner;
        this.outer = outer.apply(new Inbox());
        this.output = new FrameEmitter(target, fieldCount, Long.MAX_VALUE);
        this.meter = meter;
        this.records = new RecordBatch(inner.recordBytesMax);
        this.view = new RecordView(inner.view.source().type());
        this.tuple = new Slice[fieldCount];
        for (int i = 0; i < fieldCount; i++) {
            tuple[i] = new Slice();
        }
    }

    @Override
    public void open() {
        outer.open();
    }

    /**
     * {@inheritDoc}
     *
     * @throws io.turbidite.core.InvalidRequestException if the records of one frame are more than
     *     {@code recordBytesMax}
     */
    @Override
    public boolean step() {
        while (true) {
            Frame pending = frame;
            if (pending != null && pump(pending)) {
                return output.wanted();
            }
            frame = null;
            if (!more) {
                output.flush();
                return false;
            }
            more = outer.step();
            if (frame != null) {
                lookUp(frame);
            }
        }
    }

    @Override
    public void close() {
        more = false;
        frame = null;
        outer.close();
    }

    private void lookUp(Frame outerFrame) {
        nextTuple = 0;
        nextKey = 0;
        keys.clear();
        for (int t = 0; t < outerFrame.tupleCount(); t++) {
            if (outerFrame.field(t, KEY_FIELD, slice).length() > 0) {
                keys.add(slice);
            }
        }
        inner.view.get(keys, records);
    }

    /** Joins tuples until a frame was pushed, which returns true, or the outer frame ends. */
    private boolean pump(Frame outerFrame) {
        long matched = 0;
        boolean pushed = false;
        while (!pushed && nextTuple < outerFrame.tupleCount()) {
            boolean matches = find(outerFrame);
            if (matches || inner.keepsUnmatched) {
                for (int f = 1; f < outerFrame.fieldCount(); f++) {
                    outerFrame.field(nextTuple, f, tuple[f - 1]);
                }
                pushed = output.emit(tuple);
            }
            matched += matches ? 1 : 0;
            nextTuple++;
        }
        meter.add(matched);
        return pushed;
    }

    /** Whether the next tuple has a record; it, or nothing, becomes the last field. */
    private boolean find(Frame outerFrame) {
        Slice record = tuple[tuple.length - 1].clear();
        if (outerFrame.field(nextTuple, KEY_FIELD, slice).length() == 0) {
            return false;
        }
        int key = nextKey++;
        if (!records.isPresent(key)) {
            return false;
        }
        view.wrap(records.record(key, record));
        for (RecordPredicate predicate : inner.predicates) {
            if (!predicate.matches(view)) {
                record.clear();
                return false;
            }
        }
        return true;
    }

    /** Where the outer source pushes. */
    private final class Inbox implements FrameWriter {
        @Override
        public void open() {
            // the join opens the outer source itself
        }

        @Override
        public boolean frame(Frame pushed) {
            frame = pushed;
            return output.wanted();
        }

        @Override
        public void fail() {
            frame = null;
        }

        @Override
        public void close() {
            // what was pushed is still to be joined
        }
    }
}
