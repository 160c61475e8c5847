package io.turbidite.ops.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;

import org.jspecify.annotations.Nullable;

import java.util.Iterator;
import java.util.List;

/**
 * A range of the primary index, partition after partition, in the order in which the source has it
 * at least cost; components that the filter rules out are skipped by the source. <em>Confined to
 * one thread.</em>
 */
public final class PartitionedRecords implements RecordStream {
    private final ReadView view;
    private final Iterator<Integer> partitions;
    private final PrimaryRange range;
    private @Nullable RecordStream current;
    private long visitedByEnded;
    private LayerWork layersOfEnded = LayerWork.NONE;

    public PartitionedRecords(ReadView view, List<Integer> partitions, PrimaryRange range) {
        this.view = view;
        this.partitions = List.copyOf(partitions).iterator();
        this.range = range;
    }

    @Override
    public boolean next() {
        while (true) {
            RecordStream stream = current;
            if (stream != null && stream.next()) {
                return true;
            }
            close();
            if (!partitions.hasNext()) {
                return false;
            }
            current = view.scanUnordered(partitions.next(), range.keys(), range.filter());
        }
    }

    private RecordStream current() {
        RecordStream stream = current;
        if (stream == null) {
            throw new IllegalStateException("the scan stands on no record");
        }
        return stream;
    }

    @Override
    public Slice key() {
        return current().key();
    }

    @Override
    public long timestamp() {
        return current().timestamp();
    }

    @Override
    public Slice record() {
        return current().record();
    }

    @Override
    public long visitedCount() {
        RecordStream stream = current;
        return visitedByEnded + (stream == null ? 0 : stream.visitedCount());
    }

    @Override
    public LayerWork layers() {
        RecordStream stream = current;
        return stream == null ? layersOfEnded : layersOfEnded.plus(stream.layers());
    }

    @Override
    public void close() {
        RecordStream stream = current;
        if (stream != null) {
            visitedByEnded += stream.visitedCount();
            layersOfEnded = layersOfEnded.plus(stream.layers());
            current = null;
            stream.close();
        }
    }
}
