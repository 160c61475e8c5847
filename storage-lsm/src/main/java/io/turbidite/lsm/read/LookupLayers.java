package io.turbidite.lsm.read;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.lsm.btree.ComingKeys;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The layers of a version's primary as a lookup goes through them: newest first, memory before
 * disk, each with the cursor that pays. <em>Confined to one thread.</em>
 *
 * <p>A layer's cursor is closed when it is left, so that a batch pins one page; a lookup of key by
 * key goes through all layers for each key and keeps a cursor in each.
 */
final class LookupLayers {
    /**
     * Keys for each leaf page from which on the place of the search before is better than a guess.
     * Measured ({@code bench navigation}, all in the cache, CPU of the whole query): with 0.06 a
     * cursor that remembers and one that does not differ by no more than the noise, in 20
     * components as in a single one; with 0.6 it saves a twentieth, with 3 and more a seventh to a
     * fifth.
     */
    private static final double KEYS_PER_PAGE_MIN = 0.25;

    private final ComingKeys coming;
    private final List<MemoryLayer> memory = new ArrayList<>(2);
    private List<ComponentHandle> components = List.of();
    private @Nullable PointCursor[] cursors = new @Nullable PointCursor[0];

    /** Whether a layer's filter is asked. */
    private boolean bloom;

    private FetchOptions.Cursor cursorOption = FetchOptions.Cursor.AUTO;
    private boolean keyByKey;
    private int keyCount;
    private long snapshot;

    /** Of the layer in hand, if it is on disk. */
    private @Nullable DiskComponent component;

    private @Nullable PointCursor cursor;

    /** Its number among the components; -1 if it is not on disk. */
    private int entered = -1;

    private final LayerCount considered = new LayerCount();
    private long visitCount;
    private long statefulVisitCount;
    private long searchCount;
    private long pageCount;
    private long missCount;

    /**
     * @param coming the keys that the layer in hand will be asked for
     */
    LookupLayers(ComingKeys coming) {
        this.coming = coming;
    }

    /**
     * Goes over to another version.
     *
     * @param newKeyCount keys that will be looked up, all batches together
     */
    void open(Version version, FetchOptions options, int newKeyCount, long newSnapshot) {
        close();
        memory.add(version.current());
        MemoryLayer frozen = version.frozen();
        if (frozen != null) {
            memory.add(frozen);
        }
        components = unpruned(version, options.filter());
        cursors = new @Nullable PointCursor[components.size()];
        bloom = options.bloom();
        cursorOption = options.cursor();
        keyByKey = options.batchBytes() == 0;
        keyCount = newKeyCount;
        snapshot = newSnapshot;
    }

    /**
     * The components that a fetch with a filter must ask. Where filters know of what a layer
     * replaces too, each is pruned for itself: what hides a record inside is not ruled out. Else
     * none is that is newer than one that may match (design §4 rule 2); bitmaps are not asked,
     * so that holds for live ones too.
     */
    private List<ComponentHandle> unpruned(Version version, FilterPredicate filter) {
        List<ComponentHandle> all = version.tree(TreeId.PRIMARY);
        if (filter.isNone()) {
            considered.namesNone();
            return all;
        }
        boolean mayHide = version.schema().maintenance() != Maintenance.EAGER;
        boolean isNeeded = false;
        List<ComponentHandle> asked = new ArrayList<>();
        for (ComponentHandle handle : all.reversed()) {
            int ruledOutBy = handle.component().filter().ruledOutBy(filter);
            if (isNeeded || ruledOutBy == ComponentFilter.NOT_RULED_OUT) {
                asked.add(handle);
                considered.asked(ComponentFilter.NOT_RULED_OUT, handle.state().fileId());
                isNeeded = mayHide;
            } else {
                considered.asked(ruledOutBy, handle.state().fileId());
            }
        }
        return asked.reversed();
    }

    /** Of the first version, its components on disk, if there is a filter. */
    LayerCount considered() {
        return considered;
    }

    void close() {
        component = null;
        cursor = null;
        entered = -1;
        for (int i = 0; i < cursors.length; i++) {
            closeCursor(i);
        }
        memory.clear();
        components = List.of();
    }

    private void closeCursor(int number) {
        PointCursor open = cursors[number];
        if (open != null) {
            cursors[number] = null;
            pageCount += open.pageCount();
            missCount += open.missCount();
            open.close();
        }
    }

    int count() {
        return memory.size() + components.size();
    }

    boolean isOnDisk(int layer) {
        return layer >= memory.size();
    }

    long minTimestamp(int layer) {
        return isOnDisk(layer)
                ? handle(layer).state().minTimestamp()
                : memory.get(layer).minTimestamp();
    }

    /** The last timestamp that the layer covers; no bound for the current one. */
    long maxTimestamp(int layer) {
        if (isOnDisk(layer)) {
            return handle(layer).state().maxTimestamp();
        }
        return layer == 0 ? Long.MAX_VALUE : memory.get(layer).maxTimestamp();
    }

    /** Whether there is a filter to be asked before a search. */
    boolean isTested(int layer) {
        return !isOnDisk(layer) || (bloom && handle(layer).component().hasBloom());
    }

    boolean mayContain(int layer, long hash) {
        return isOnDisk(layer)
                ? handle(layer).component().mayContain(hash)
                : memory.get(layer).mayContainKey(hash);
    }

    /**
     * Begins to search a layer.
     *
     * @param searches how many there will be before it is left
     */
    void enter(int layer, int searches) {
        leave();
        if (!isOnDisk(layer)) {
            return;
        }
        entered = layer - memory.size();
        DiskComponent onDisk = components.get(entered).component();
        component = onDisk;
        boolean stateful = remembers(onDisk, searches);
        if (cursors[entered] == null && (stateful || !keyByKey)) {
            cursors[entered] = keyByKey
                    ? onDisk.pointCursor()
                    : onDisk.pointCursor(coming, snapshot, stateful);
        }
        cursor = cursors[entered];
        visitCount++;
        statefulVisitCount += stateful ? 1 : 0;
    }

    /**
     * Whether a cursor that remembers its place pays: where neighbouring keys are often on one
     * page. Of keys that are taken one by one through all layers, any may be in this one.
     */
    private boolean remembers(DiskComponent onDisk, int searches) {
        long keys = keyByKey ? keyCount : searches;
        return switch (cursorOption) {
            case STATEFUL -> true;
            case STATELESS -> false;
            case AUTO -> keys >= KEYS_PER_PAGE_MIN * onDisk.recordPageCount();
        };
    }

    /** Ends the search of a layer. */
    void leave() {
        component = null;
        cursor = null;
        if (!keyByKey && entered >= 0) {
            closeCursor(entered);
        }
        entered = -1;
    }

    /** Searches the layer in hand; returns a code of {@link Found}. */
    int find(int layer, Slice key, long snapshot, Found found) {
        DiskComponent onDisk = component;
        if (onDisk == null) {
            return memory.get(layer).tree(TreeId.PRIMARY).find(key, snapshot, found, true);
        }
        searchCount++;
        PointCursor remembering = cursor;
        if (remembering != null) {
            return remembering.find(key, snapshot, found, true);
        }
        pageCount++;
        return onDisk.find(key, snapshot, found, true);
    }

    private ComponentHandle handle(int layer) {
        return components.get(layer - memory.size());
    }

    long visitCount() {
        return visitCount;
    }

    long statefulVisitCount() {
        return statefulVisitCount;
    }

    long searchCount() {
        return searchCount;
    }

    /** Leaf pages pinned. */
    long pageCount() {
        long count = pageCount;
        for (PointCursor open : cursors) {
            count += open == null ? 0 : open.pageCount();
        }
        return count;
    }

    /** Those of them that the cache lacked; of a lookup key by key not all are counted. */
    long missCount() {
        long count = missCount;
        for (PointCursor open : cursors) {
            count += open == null ? 0 : open.missCount();
        }
        return count;
    }
}
