package io.turbidite.lsm.partition;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.LiveCursor;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A cursor over what a snapshot shows of one tree of a partition, in a range, with layers skipped that
 * the filter rules out. It pins a version; when it has moved on for a while and a newer version is
 * there, it pins that and seeks to where it was, so that a long scan keeps neither memory nor files
 * alive (D3).
 *
 * <p><em>Confined to one thread.</em>
 */
final class LayerStack implements AutoCloseable {
    /** Moves between two looks at whether the pinned version is old: a look is one volatile read. */
    private static final int REPIN_INTERVAL = 1_024;

    private final Partition partition;
    private final int tree;
    private final long snapshot;
    private final KeyRange range;
    private final FilterPredicate filter;
    private @Nullable Version pinned;
    private @Nullable EntryCursor live;
    private int untilLook = REPIN_INTERVAL;
    private boolean ended;
    private long visitedCount;

    LayerStack(
            Partition partition, int tree, long snapshot, KeyRange range, FilterPredicate filter) {
        this.partition = partition;
        this.tree = tree;
        this.snapshot = snapshot;
        this.range = range;
        this.filter = filter;
        open(range.low());
    }

    private EntryCursor open(@Nullable Slice from) {
        Version version = partition.pin();
        pinned = version;
        if (!version.hasTree(tree)) {
            release();
            throw new InvalidRequestException("the index that was to be searched is no more in %s"
                    .formatted(version.schema().name()));
        }
        List<EntryCursor> layers = new ArrayList<>();
        addMemory(layers, version.current());
        MemoryLayer frozen = version.frozen();
        if (frozen != null) {
            addMemory(layers, frozen);
        }
        for (ComponentHandle handle : version.tree(tree)) {
            if (handle.component().entryCount() > 0
                    && handle.component().filter().mayMatch(filter)) {
                layers.add(handle.component().cursor());
            }
        }
        EntryCursor cursor = LiveCursor.of(MergeCursor.of(layers), snapshot);
        live = cursor;
        if (from != null) {
            cursor.seek(from);
        }
        return cursor;
    }

    private void addMemory(List<EntryCursor> layers, MemoryLayer layer) {
        // a layer that is older than the index is not above it: its entries were built
        if (layer.hasTree(tree) && layer.tree(tree).entryCount() > 0 && layer.mayMatch(filter)) {
            layers.add(layer.tree(tree).cursor());
        }
    }

    boolean next() {
        EntryCursor cursor = live;
        if (cursor == null || ended) {
            partition.substrate().health().checkReadable();
            return false;
        }
        if (--untilLook == 0) {
            untilLook = REPIN_INTERVAL;
            partition.substrate().health().checkReadable();
            Version version = pinned;
            if (version != null && visitedCount > 0 && !partition.isCurrent(version)) {
                cursor = repin(cursor);
            }
        }
        visitedCount++;
        if (!cursor.next()) {
            ended = true;
            return false;
        }
        Slice high = range.high();
        if (high != null && cursor.key().compareBytes(high) >= 0) {
            ended = true;
            return false;
        }
        return true;
    }

    /** Moves to the newest version, to just behind the entry it stands on. */
    private EntryCursor repin(EntryCursor old) {
        // the smallest key above k is k with a zero byte behind it
        byte[] key = old.key().toByteArray();
        Slice behind = Slice.of(Arrays.copyOf(key, key.length + 1));
        release();
        return open(behind);
    }

    EntryCursor entry() {
        EntryCursor cursor = live;
        if (cursor == null) {
            throw new ClosedException("the cursor");
        }
        return cursor;
    }

    long visitedCount() {
        return visitedCount;
    }

    boolean isClosed() {
        return live == null;
    }

    @Override
    public void close() {
        release();
    }

    private void release() {
        EntryCursor cursor = live;
        Version version = pinned;
        live = null;
        pinned = null;
        if (cursor != null) {
            cursor.close();
        }
        if (version != null) {
            version.unpin();
        }
    }
}
