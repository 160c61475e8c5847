package io.turbidite.lsm.strategy.bitmap.run;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.VersionSearch;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.InvalidationSink;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Where the version lies that a write supersedes, in a partition with live bitmaps (LUO19 §5.2): in
 * a memory layer, at an ordinal of a component, or nowhere.
 *
 * <ol>
 *   <li>{@link #find} asks the key trees, under the key's stripe. What it found stays true until
 *       the layer is flushed or the component merged.
 *   <li>Inside the gate, {@link #isStale} says whether that has happened: then the writer leaves
 *       the gate and looks again.
 *   <li>{@link #supersede} marks the version, when the log record of its successor is published.
 *       Every component that could get the mark is there or is told of it: nothing is installed
 *       while somebody is inside.
 * </ol>
 *
 * <p><em>Confined to one thread;</em> reused.
 */
public final class OldPosition {
    private @Nullable MemoryLayer layer;
    private @Nullable MutableValidityBitmap bitmap;
    private long position;

    /**
     * The component that {@link #bitmap} belongs to, if what is marked there is not saved; null if
     * it is.
     */
    private @Nullable String unsaved;

    /** There is no such version. */
    public void clear() {
        layer = null;
        bitmap = null;
    }

    /**
     * Finds the newest version of a key; touches no record page unless the record is wanted.
     *
     * @param wantRecord whether the record is wanted wherever it lies; otherwise {@code found} has
     *     it if it lies in the current layer, and an empty value if not
     * @return a code of {@link Found}
     */
    public int find(Partition partition, Slice key, long keyHash, boolean wantRecord, Found found) {
        return find(partition, key, keyHash, wantRecord, found, null);
    }

    /**
     * As {@link #find(Partition, Slice, long, boolean, Found)}, past components that can't be read.
     *
     * @param unread is told of each that was passed over and may have the key; null to fail instead
     */
    public int find(
            Partition partition,
            Slice key,
            long keyHash,
            boolean wantRecord,
            Found found,
            @Nullable Consumer<CorruptionException> unread) {
        clear();
        found.value.clear();
        Version pinned = partition.pin();
        try {
            int code = findInMemory(pinned, key, keyHash, wantRecord, found);
            List<ComponentHandle> components = pinned.tree(TreeId.PRIMARY);
            for (int i = 0; i < components.size() && code == Found.ABSENT; i++) {
                ComponentHandle handle = components.get(i);
                if (handle.component().mayContain(keyHash)) {
                    code = find(handle.component(), key, wantRecord, found, unread);
                }
                if (code == Found.MATTER) {
                    bitmap = Objects.requireNonNull(handle.live());
                    unsaved = handle.isBitmapUnread() ? handle.component().name() : null;
                    position = found.position;
                }
            }
            return code;
        } finally {
            pinned.unpin();
        }
    }

    private static int find(
            DiskComponent component,
            Slice key,
            boolean wantRecord,
            Found found,
            @Nullable Consumer<CorruptionException> unread) {
        try {
            return wantRecord
                    ? component.find(key, Limits.TIMESTAMP_MAX, found, true)
                    : component.findKey(key, Limits.TIMESTAMP_MAX, found);
        } catch (CorruptionException damage) {
            if (unread == null) {
                throw damage;
            }
            unread.accept(damage);
            return Found.ABSENT;
        }
    }

    private int findInMemory(
            Version pinned, Slice key, long keyHash, boolean wantRecord, Found found) {
        long newest = Limits.TIMESTAMP_MAX;
        MemoryLayer holder = pinned.current();
        int code = VersionSearch.findInLayer(holder, key, keyHash, newest, found, true);
        MemoryLayer frozen = pinned.frozen();
        if (code == Found.ABSENT && frozen != null) {
            holder = frozen;
            code = VersionSearch.findInLayer(holder, key, keyHash, newest, found, wantRecord);
        }
        if (code == Found.MATTER) {
            layer = holder;
            position = found.position;
        }
        return code;
    }

    /** Whether the version may lie elsewhere by now; inside the gate. */
    public boolean isStale(Partition partition) {
        if (bitmap != null) {
            return bitmap.isRetired();
        }
        Version now = partition.version();
        return layer != null && !layer.equals(now.current()) && !layer.equals(now.frozen());
    }

    /**
     * Whether there is such a version, outside the current memory layer, so that a bitmap must
     * know: the log's update bit. Inside the gate.
     */
    public boolean needsMark(Partition partition) {
        return bitmap != null
                || (layer != null && !layer.equals(partition.version().current()));
    }

    /**
     * Invalidates the version if {@link #needsMark}; whoever reads the current layer reconciles it.
     * Inside the gate.
     *
     * @param timestamp the successor's
     */
    public void supersede(Partition partition, Slice key, long timestamp) {
        InvalidationSink sink = null;
        if (bitmap != null) {
            if (bitmap.invalidate(position, timestamp, partition.core().timestamps()::horizon)) {
                sink = bitmap.sink();
            }
        } else if (needsMark(partition)) {
            MemoryLayer frozen = Objects.requireNonNull(partition.version().frozen());
            sink = Objects.requireNonNull(frozen.concurrency()).sink(0);
        } else {
            return;
        }
        BitmapMeter.of(partition.core().meters()).invalidations().increment();
        if (sink != null) {
            sink.invalidated(position, key, timestamp);
        }
    }

    /**
     * Invalidates the version while the log is replayed, if it lies on disk; its bitmap may know
     * already. No older reader is left, so the mark needs no time.
     *
     * @return the component whose bitmap could not be read, so that nobody saves the mark; null if
     *     it lasts
     */
    public @Nullable String supersedeInReplay() {
        if (bitmap == null) {
            return null;
        }
        bitmap.settle(position);
        return unsaved;
    }
}
