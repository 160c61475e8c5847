package io.turbidite.lsm.read;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/**
 * The live records of a partition with live bitmaps, in no order: first the memory layers,
 * reconciled with one another, then one component after the other, newest first, none compared with
 * any (LUO19 §6.4.2).
 *
 * <p>What has been read is remembered as timestamps, not as components ({@link TimestampRange}). So
 * a version that is old by now can be let go at any time, as by any cursor: what is left of a band
 * is read from wherever it lies in the newest version.
 *
 * <p><em>Confined to one thread</em>, but for {@link #close()}.
 */
final class ComponentScan implements RecordStream {
    private final Partition partition;
    private final ViewState view;
    private final KeyRange keys;
    private final FilterPredicate filter;

    /** The band that is read, null before the first. */
    private @Nullable TimestampRange band;

    private long visitedBefore;
    private LayerWork layersBefore = LayerWork.NONE;
    private volatile @Nullable SnapshotCursor stack;
    private volatile boolean closed;

    ComponentScan(Partition partition, ViewState view, KeyRange keys, FilterPredicate filter) {
        this.partition = partition;
        this.view = view;
        this.keys = keys;
        this.filter = filter;
    }

    @Override
    public boolean next() {
        return move(null);
    }

    @Override
    public void checkOpen() {
        SnapshotCursor open = stack;
        if (open == null) {
            view.checkOpen();
        } else {
            open.checkOpen();
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
        SnapshotCursor open = stack;
        while (true) {
            if (open == null) {
                open = openNext();
                if (open == null) {
                    return false;
                }
            }
            if (run == null ? open.next() : open.nextRun(run)) {
                return true;
            }
            visitedBefore += open.visitedCount();
            layersBefore = layersBefore.plus(open.layers());
            stack = null;
            open.close();
            open = null;
        }
    }

    /** The layers of the next band; null if there is none. */
    private @Nullable SnapshotCursor openNext() {
        view.checkOpen();
        TimestampRange before = band;
        Version pinned = partition.pin();
        TimestampRange next;
        try {
            next = before == null ? TimestampRange.ofMemory(pinned) : before.next(pinned);
        } finally {
            pinned.unpin();
        }
        if (next == null) {
            return null;
        }
        band = next;
        SnapshotCursor opened = new SnapshotCursor(
                partition, TreeId.PRIMARY, view, new ScanBounds(keys, filter, next));
        stack = opened;
        // whoever closed before that has not seen it
        if (closed) {
            opened.close();
            throw new ClosedException("the cursor");
        }
        return opened;
    }

    @Override
    public Slice key() {
        return onRecord().key();
    }

    @Override
    public long timestamp() {
        return onRecord().timestamp();
    }

    @Override
    public Slice record() {
        return onRecord().value();
    }

    private SnapshotCursor onRecord() {
        SnapshotCursor open = stack;
        if (open == null) {
            view.checkOpen();
            throw new IllegalStateException("the cursor stands on no entry");
        }
        return open;
    }

    @Override
    public long visitedCount() {
        SnapshotCursor open = stack;
        return open == null ? visitedBefore : visitedBefore + open.visitedCount();
    }

    @Override
    public LayerWork layers() {
        SnapshotCursor open = stack;
        return open == null ? layersBefore : layersBefore.plus(open.layers());
    }

    @Override
    public void close() {
        closed = true;
        SnapshotCursor open = stack;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public String toString() {
        return "scan of %s at %s".formatted(partition, Objects.toString(band, "its start"));
    }
}
