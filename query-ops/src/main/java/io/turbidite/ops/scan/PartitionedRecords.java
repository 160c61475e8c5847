package io.turbidite.ops.scan;

import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;

import org.jspecify.annotations.Nullable;

import java.util.Iterator;
import java.util.List;

/**
 * A range of the primary index, partition after partition, in the order in which the source has it
 * at least cost; components that the filter rules out are skipped by the source. <em>Confined to
 * one thread.</em>
 */
public final class PartitionedRecords extends RecordsInTurn implements PausingRecords {
    private final ReadView view;
    private final Iterator<Integer> partitions;
    private final PrimaryRange range;
    private long visitedByEnded;
    private LayerWork layersOfEnded = LayerWork.NONE;

    public PartitionedRecords(ReadView view, List<Integer> partitions, PrimaryRange range) {
        this.view = view;
        this.partitions = List.copyOf(partitions).iterator();
        this.range = range;
    }

    @Override
    public boolean next() {
        return move(null);
    }

    @Override
    public void checkOpen() {
        RecordStream stream = current();
        if (stream != null) {
            stream.checkOpen();
        }
    }

    @Override
    public boolean nextRun(RecordRun run) {
        return move(run);
    }

    /**
     * @param run is filled; null: one record is wanted
     */
    private boolean move(@Nullable RecordRun run) {
        while (true) {
            RecordStream stream = current();
            if (stream != null && (run == null ? stream.next() : stream.nextRun(run))) {
                return true;
            }
            if (isPaused()) {
                return false;
            }
            close();
            if (!partitions.hasNext()) {
                return false;
            }
            standOn(view.scanUnordered(partitions.next(), range.keys(), range.filter()));
        }
    }

    @Override
    public boolean isPaused() {
        return current() instanceof PausingRecords pausing && pausing.isPaused();
    }

    @Override
    public long visitedCount() {
        RecordStream stream = current();
        return visitedByEnded + (stream == null ? 0 : stream.visitedCount());
    }

    @Override
    public LayerWork layers() {
        RecordStream stream = current();
        return stream == null ? layersOfEnded : layersOfEnded.plus(stream.layers());
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
