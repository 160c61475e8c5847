package io.turbidite.ops.scan;

import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.RecordPredicate;

import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;

/**
 * Records that several ways give together, one way after the other. A way passes over records that
 * do not belong to it, so that each record is given once. <em>Confined to one thread.</em>
 */
public final class RecordsOfEither extends RecordsInTurn {
    /** Records passed over between two looks whether the query was stopped. */
    private static final int RECORDS_A_LOOK = 1_024;

    /**
     * A way.
     *
     * @param opener opens it when it is its turn
     * @param belonging whether a record belongs to this way
     */
    public record Way(Supplier<? extends RecordStream> opener, RecordPredicate belonging) {}

    private final Iterator<Way> ways;
    private final List<RecordPredicate> first;
    private final RecordView view;
    private final Runnable stopCheck;
    private RecordPredicate belonging = _ -> false;
    private long visitedByEnded;
    private LayerWork layersOfEnded = LayerWork.NONE;
    private int passedOver;

    /**
     * Reads them in their order.
     *
     * @param type of the records
     * @param first what is asked of a record before it is asked which way it belongs to
     * @param stopCheck throws if the query was stopped
     */
    public RecordsOfEither(
            RecordType type, List<Way> ways, List<RecordPredicate> first, Runnable stopCheck) {
        this.first = first;
        this.ways = ways.iterator();
        this.view = new RecordView(type);
        this.stopCheck = stopCheck;
    }

    @Override
    public boolean next() {
        while (true) {
            RecordStream stream = current();
            while (stream != null && stream.next()) {
                if (belongs(view.wrap(stream.record()))) {
                    return true;
                }
                if (++passedOver % RECORDS_A_LOOK == 0) {
                    stopCheck.run();
                }
            }
            close();
            if (!ways.hasNext()) {
                return false;
            }
            Way way = ways.next();
            belonging = way.belonging();
            standOn(way.opener().get());
        }
    }

    private boolean belongs(RecordView record) {
        for (RecordPredicate predicate : first) {
            if (!predicate.matches(record)) {
                return false;
            }
        }
        return belonging.matches(record);
    }

    @Override
    public LayerWork layers() {
        RecordStream stream = current();
        return stream == null ? layersOfEnded : layersOfEnded.plus(stream.layers());
    }

    /** Of all ways, those that belong to none included. */
    @Override
    public long visitedCount() {
        RecordStream stream = current();
        return visitedByEnded + (stream == null ? 0 : stream.visitedCount());
    }

    @Override
    public void close() {
        RecordStream stream = current();
        if (stream != null) {
            visitedByEnded += stream.visitedCount();
            layersOfEnded = layersOfEnded.plus(stream.layers());
            standOn(null);
            stream.close();
        }
    }
}
