package io.turbidite.ops.scan;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

import java.util.Iterator;
import java.util.List;

/**
 * Reads a range of the primary index, partition after partition, in the order in which the source has it at least cost;
 * components that the filter rules out are skipped by the source. <em>Confined to one thread.</em>
 */
public final class PrimaryScan implements FrameSource {
    private final ReadView view;
    private final Iterator<Integer> partitions;
    private final KeyRange range;
    private final FilterPredicate filter;
    private final SelectProject output;
    private final OperatorMeter meter;
    private @Nullable RecordStream cursor;
    private long metered;

    /**
     * Reads some partitions.
     *
     * @param meter counts records looked at
     */
    public PrimaryScan(
            ReadView view,
            List<Integer> partitions,
            PrimaryRange range,
            SelectProject output,
            OperatorMeter meter) {
        this.view = view;
        this.partitions = List.copyOf(partitions).iterator();
        this.range = range.keys();
        this.filter = range.filter();
        this.output = output;
        this.meter = meter;
    }

    @Override
    public void open() {
        advance();
    }

    @Override
    public boolean step() {
        while (cursor != null) {
            boolean pushed = false;
            while (!pushed && cursor.next()) {
                pushed = output.accept(cursor.key(), cursor.record());
            }
            count(cursor);
            if (pushed) {
                return output.wanted();
            }
            advance();
        }
        output.flush();
        return false;
    }

    @Override
    public void close() {
        if (cursor != null) {
            cursor.close();
            cursor = null;
        }
    }

    private void advance() {
        close();
        if (partitions.hasNext()) {
            cursor = view.scanUnordered(partitions.next(), range, filter);
            metered = 0;
        }
    }

    private void count(RecordStream at) {
        long visited = at.visitedCount();
        meter.add(visited - metered);
        metered = visited;
    }
}
