package io.turbidite.ops.plan;

import io.turbidite.core.StorageException;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.BatchTimer;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.OptionalLong;

/**
 * How many records a source has, where nothing but that is asked and its view can tell without
 * reading them: {@link ReadView#countRecords}. <em>Confined to one thread.</em>
 */
final class KnownCount {
    /** The way in, in a few words. */
    static final String ACCESS = "counts of components";

    private final CheckedQuery query;
    private final ReadView view;
    private final RunOptions options;
    private final OperatorMeter meter = new OperatorMeter();

    /** Null before it was asked for. */
    private @Nullable OptionalLong records;

    private KnownCount(CheckedQuery query, ReadView view, RunOptions options) {
        this.query = query;
        this.view = view;
        this.options = options;
    }

    /** Null where something else is asked for, or a scan by name. */
    static @Nullable KnownCount of(
            CheckedQuery query, ReadView view, AccessChoice choice, RunOptions options) {
        boolean isOfAll = counts(query)
                && choice.chosen() instanceof Access.Scan scan
                && scan.range().keys().isAll()
                && scan.range().filter().isNone()
                && query.compile(scan.decided()).length == 0;
        return isOfAll ? new KnownCount(query, view, options) : null;
    }

    private static boolean counts(CheckedQuery query) {
        return switch (query.kind()) {
            case COUNT -> true;
            case AGGREGATES ->
                query.groups().isEmpty()
                        && query.grid() == null
                        && query.aggregates().countRecordsAlone();
            case ROWS, GROUPS, CELLS -> false;
        };
    }

    /** Whether the view tells; asked once. Of one that is closed, it is not known. */
    boolean isKnown() {
        OptionalLong told = records;
        if (told == null) {
            BatchTimer timer = BatchTimer.of(options, meter);
            if (timer != null) {
                timer.begin();
            }
            try {
                told = view.countRecords(options::checkNotStopped);
            } catch (StorageException e) {
                told = OptionalLong.empty(); // a scan says the same, or an explanation needs none
            } finally {
                if (timer != null) {
                    timer.end();
                }
            }
            records = told;
        }
        return told.isPresent();
    }

    /** Whether the view tells, or told; asks for nothing that has to be read. */
    boolean isTold() {
        OptionalLong told = records;
        if (told != null) {
            return told.isPresent();
        }
        try {
            return view.tellsRecordCount();
        } catch (StorageException e) {
            return false; // as above
        }
    }

    /** The one row, whose fields are all the count. */
    Rows rows() {
        RecordWriter row = new RecordWriter(query.rowType());
        row.begin();
        long count = known();
        for (int i = 0; i < query.rowType().fields().size(); i++) {
            row.setLong(i, count);
        }
        meter.add(count);
        return new ValuesPlan(query.rowType(), List.of(row.finish()), options).rows();
    }

    /** What is below the count. */
    PlanStep step() {
        return new PlanStep("counts", "of components, no record is read", estimate(), meter);
    }

    private long estimate() {
        if (records != null) {
            return known();
        }
        try {
            return view.estimateScan(KeyRange.all(), FilterPredicate.none());
        } catch (StorageException e) {
            return PlanStep.UNKNOWN;
        }
    }

    private long known() {
        OptionalLong told = records;
        return told == null ? 0 : told.orElse(0);
    }
}
