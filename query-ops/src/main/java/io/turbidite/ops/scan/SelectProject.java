package io.turbidite.ops.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.OperatorMeter;

/**
 * Select and project, where records are still where the storage has them: a record that does not match is
 * never copied, and of one that does only what is asked for. Every way in ends here.
 * <em>Confined to one thread.</em>
 */
public final class SelectProject {
    private final RecordPredicate[] predicates;
    private final TupleMaker maker;
    private final FrameEmitter emitter;
    private final OperatorMeter meter;
    private final RecordView view;
    private long uncounted;

    /**
     * Puts tuples of matching records into {@code emitter}.
     *
     * @param predicates all must hold
     * @param meter counts matching records
     */
    public SelectProject(
            RecordType type,
            RecordPredicate[] predicates,
            TupleMaker maker,
            FrameEmitter emitter,
            OperatorMeter meter) {
        this.predicates = predicates;
        this.maker = maker;
        this.emitter = emitter;
        this.meter = meter;
        this.view = new RecordView(type);
    }

    /** Takes a record; returns whether that pushed a frame. */
    public boolean accept(Slice primaryKey, Slice record) {
        view.wrap(record);
        for (RecordPredicate predicate : predicates) {
            if (!predicate.matches(view)) {
                return false;
            }
        }
        uncounted++;
        boolean pushed = emitter.emit(maker.make(primaryKey, record, view));
        if (pushed) {
            count();
        }
        return pushed;
    }

    /** The record that was taken last. */
    public RecordView lastRecord() {
        return view;
    }

    /** Whether the reader wants more. */
    public boolean wanted() {
        return emitter.wanted();
    }

    /** Pushes what is left. */
    public void flush() {
        count();
        emitter.flush();
    }

    private void count() {
        meter.add(uncounted);
        uncounted = 0;
    }
}
