package io.turbidite.lsm.read;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.core.geo.Zone;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.btree.PageChoice;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.component.FilteredPages;
import io.turbidite.lsm.entry.CheckedCursor;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.LiveCursor;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.rtree.NearestByCurve;
import io.turbidite.lsm.rtree.SkippingCursor;
import io.turbidite.lsm.rtree.WindowWork;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.deletedkey.DeletedKeys;
import io.turbidite.lsm.strategy.deletedkey.UndeletedCursor;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The layers of one tree that a reader at a snapshot must read, and how they make one cursor. There
 * are three ways, by how the tree is maintained:
 *
 * <ol>
 *   <li><em>reconciled</em>: of each key the newest version in any layer counts, so layers are
 *       merged;
 *   <li><em>marked</em>, a primary with live bitmaps: no layer shows a key that another one shows,
 *       so layers are merged for the order alone, and each is pruned for itself;
 *   <li><em>undeleted</em>, a secondary with a deleted-key tree: reconciled, without what the
 *       deleted-key trees hide.
 * </ol>
 *
 * <p><em>Confined to one thread.</em> Asked once; the version must stay pinned for as long as the
 * cursor lives.
 */
final class MergedLayers {
    private final Version version;
    private final TreeId tree;
    private final FilterPredicate filter;
    private final KeyRange keys;
    private final TimestampRange band;
    private final IndexSearch.@Nullable Spatial spatial;

    /** Of each zone of the search one, for all layers. */
    private final List<WindowSearch> searches;

    private final WindowWork work;
    private final @Nullable Slice token;
    private final long tokenHash;
    private final long snapshot;
    private final LayerCount layers;

    /**
     * Oldest first: the layer that is being flushed, if there is one, and the one that writers
     * apply to.
     */
    private final List<MemoryLayer> memory = new ArrayList<>();

    private final List<EntryCursor> oldestFirst = new ArrayList<>();

    /** Of the components that are among {@link #oldestFirst}, where pages may be passed over. */
    private final KeysRead keysRead = new KeysRead();

    /** How many of {@link #oldestFirst}, from the oldest, say how far they are vouched for. */
    private int vouchedCount;

    /**
     * @param layers counts those that are considered here
     */
    MergedLayers(
            Version version, TreeId tree, ScanBounds bounds, long snapshot, LayerCount layers) {
        this.version = version;
        this.tree = tree;
        this.filter = bounds.filter();
        this.keys = bounds.keys();
        this.band = bounds.band();
        this.spatial = bounds.spatial();
        this.searches = searches(bounds.spatial());
        this.work = bounds.work();
        this.token = bounds.token();
        this.tokenHash = token == null ? 0 : BloomFilter.hash(token);
        this.snapshot = snapshot;
        this.layers = layers;
        MemoryLayer frozen = version.frozen();
        if (frozen != null) {
            memory.add(frozen);
        }
        memory.add(version.current());
    }

    private static List<WindowSearch> searches(IndexSearch.@Nullable Spatial spatial) {
        List<WindowSearch> searches = new ArrayList<>(1);
        if (spatial != null) {
            for (Zone zone : spatial.zones()) {
                searches.add(new WindowSearch(spatial.kind(), zone));
            }
        }
        return searches;
    }

    /** A cursor over what the snapshot shows of the memory layers of an index, each checked. */
    EntryCursor inMemory() {
        for (MemoryLayer layer : memory) {
            if (hasEntries(layer)) {
                layers.asked(ComponentFilter.NOT_RULED_OUT);
                add(layer, true);
            }
        }
        return LiveCursor.of(MergeCursor.of(oldestFirst.reversed()), snapshot);
    }

    /** A cursor over what the snapshot shows of all of them. */
    EntryCursor cursor() {
        if (ComponentFiles.isLive(version.schema(), tree)) {
            return marked();
        }
        IndexSchema index = version.schema().index(tree);
        boolean isChecked = index != null && index.maintenance() != Maintenance.EAGER;
        boolean isVouched = index != null && !isChecked && !filter.isNone();
        EntryCursor live = reconciled(isChecked, isVouched);
        return index != null && index.hasDeletedKeyTree()
                ? new UndeletedCursor(live, deletedKeys(index), snapshot)
                : live;
    }

    /**
     * Of each key the newest version.
     *
     * @param isChecked whether each entry says how far its layer was checked
     * @param isVouched whether each entry says up to which newer layer, passed over, nothing hides
     *     it
     */
    private EntryCursor reconciled(boolean isChecked, boolean isVouched) {
        // rule 2: where filters know of new records alone, what is newer than a match may hide it
        boolean mayHide = !isChecked && version.schema().maintenance().isBlind();
        boolean isNeeded = false;
        RegionLayer region = version.region(tree);
        if (region != null && isRead(false, ComponentFilter.NOT_RULED_OUT)) {
            oldestFirst.add(RegionCursor.open(
                    region, Objects.requireNonNull(version.schema().index(tree)), keys, snapshot));
        }
        for (ComponentHandle handle : version.tree(tree).reversed()) {
            if (handle.livingCount() == 0) {
                continue;
            }
            if (isOutside(handle)) {
                layers.outside(handle.state().fileId());
                continue;
            }
            if (isRead(isNeeded, handle)) {
                add(handle, isChecked);
                isNeeded = mayHide;
            } else if (isVouched) {
                passOver(handle.state().minTimestamp());
            }
        }
        for (MemoryLayer layer : memory) {
            if (!hasEntries(layer)) {
                continue;
            }
            if (isRead(isNeeded, layer.ruledOutBy(filter))) {
                add(layer, isChecked);
                isNeeded = mayHide;
            } else if (isVouched) {
                passOver(layer.minTimestamp());
            }
        }
        if (isVouched) {
            vouch(Long.MAX_VALUE);
        }
        return LiveCursor.of(MergeCursor.of(oldestFirst.reversed()), snapshot);
    }

    /**
     * Counts a layer, and says whether it is read.
     *
     * @param ruledOutBy what its filter says
     */
    private boolean isRead(boolean isNeeded, int ruledOutBy) {
        int passedOverBy = isNeeded ? ComponentFilter.NOT_RULED_OUT : ruledOutBy;
        layers.asked(passedOverBy);
        return passedOverBy == ComponentFilter.NOT_RULED_OUT;
    }

    /** The same of a component. */
    private boolean isRead(boolean isNeeded, ComponentHandle handle) {
        int passedOverBy = isNeeded
                ? ComponentFilter.NOT_RULED_OUT
                : handle.component().filter().ruledOutBy(filter);
        layers.asked(passedOverBy, handle.state().fileId());
        return passedOverBy == ComponentFilter.NOT_RULED_OUT;
    }

    /**
     * No entry of it is in the zones, or has the token, and none hides one that is: that has the
     * same key.
     */
    private boolean isOutside(ComponentHandle handle) {
        if (handle.isQuarantined()) {
            return false;
        }
        if (token != null) {
            boolean isAbsent = !handle.component().mayContainToken(tokenHash);
            work.asked(isAbsent);
            return isAbsent;
        }
        if (spatial == null) {
            return false;
        }
        boolean isOutside = true;
        for (WindowSearch search : searches) {
            isOutside &= !handle.component().mayMeet(search.zone());
        }
        work.asked(isOutside);
        return isOutside;
    }

    private void add(ComponentHandle handle, boolean isChecked) {
        long checkedUntil = handle.state().repairedTimestamp();
        if (spatial == null && mayChoose()) {
            PageChoice choice = hidesNothing(handle.component()) ? choice(handle) : null;
            add(choice == null ? handle.cursor() : handle.cursor(choice), isChecked, checkedUntil);
            return;
        }
        if (spatial == null) {
            add(handle.cursor(), isChecked, checkedUntil);
            return;
        }
        if (spatial instanceof IndexSearch.Nearest(SpatialKind kind, Place place)) {
            add(handle.nearestCursor(kind, place, work), isChecked, checkedUntil);
            return;
        }
        for (WindowSearch search : searches) {
            add(handle.windowCursor(search, work), isChecked, checkedUntil);
        }
    }

    /**
     * Whether no entry of a component, which is read next, hides one that may be shown: not of the
     * component itself, nor of an older one that is read. Then what does not match need not be read
     * either.
     */
    private boolean hidesNothing(DiskComponent component) {
        Slice min = component.minKey();
        Slice max = component.maxKey();
        boolean isApart = !keysRead.meet(min, max);
        keysRead.add(min, max);
        return isApart && component.keyCount() == component.entryCount();
    }

    /** The pages of records that the filter leaves; null if it leaves all. */
    private @Nullable PageChoice choice(ComponentHandle handle) {
        DatasetSchema schema = version.schema();
        return mayChoose()
                ? FilteredPages.of(handle.component(), schema.type(), schema.filter(), filter)
                : null;
    }

    private boolean mayChoose() {
        return tree.isPrimary() && !filter.isNone();
    }

    private void add(MemoryLayer layer, boolean isChecked) {
        boolean isCurrent = layer.equals(version.current());
        long checkedUntil = isCurrent ? Long.MAX_VALUE : layer.maxTimestamp();
        if (spatial == null) {
            add(layer.tree(tree).cursor(), isChecked, checkedUntil);
            return;
        }
        if (spatial instanceof IndexSearch.Nearest(SpatialKind kind, Place place)) {
            EntryCursor all = layer.tree(tree).cursor();
            add(new NearestByCurve(kind, place, all, work), isChecked, checkedUntil);
            return;
        }
        for (WindowSearch search : searches) {
            EntryCursor all = layer.tree(tree).cursor();
            add(new SkippingCursor(all, search, work), isChecked, checkedUntil);
        }
    }

    /**
     * What is older than a layer that is not read may be hidden by it, from its first timestamp on.
     */
    private void passOver(long minTimestamp) {
        if (minTimestamp <= snapshot) {
            vouch(minTimestamp - 1);
        }
    }

    private void vouch(long until) {
        for (; vouchedCount < oldestFirst.size(); vouchedCount++) {
            EntryCursor entries = oldestFirst.get(vouchedCount);
            oldestFirst.set(vouchedCount, new CheckedCursor(entries, until));
        }
    }

    private void add(EntryCursor entries, boolean isChecked, long checkedUntil) {
        oldestFirst.add(isChecked ? new CheckedCursor(entries, checkedUntil) : entries);
    }

    /**
     * None of the components shows a key that another one shows (LUO19 §5). The two memory layers
     * have no marks and are reconciled with one another: the current one may hide what the frozen
     * one shows.
     */
    private EntryCursor marked() {
        for (ComponentHandle handle : version.tree(tree).reversed()) {
            if (handle.component().entryCount() > 0
                    && band.meets(handle)
                    && handle.state().minTimestamp() <= snapshot
                    && isRead(false, handle)) {
                EntryCursor visible = handle.visibleCursor(snapshot, choice(handle));
                oldestFirst.add(
                        band.covers(handle) ? visible : new TimestampRangeCursor(visible, band));
            }
        }
        List<EntryCursor> unmarked = new ArrayList<>();
        for (MemoryLayer layer : memory) {
            if (band.meetsMemory()
                    && hasEntries(layer)
                    && isRead(!unmarked.isEmpty(), layer.ruledOutBy(filter))) {
                unmarked.add(layer.tree(tree).cursor());
            }
        }
        if (!unmarked.isEmpty()) {
            oldestFirst.add(LiveCursor.of(MergeCursor.of(unmarked.reversed()), snapshot));
        }
        return MergeCursor.of(oldestFirst.reversed());
    }

    /**
     * The deleted-key trees of all layers: those that filters rule out may hide entries of others.
     */
    private DeletedKeys deletedKeys(IndexSchema index) {
        TreeId deletedKeyTree = index.tree().deletedKeyTree();
        List<MemoryComponent> newestFirst = memory.reversed().stream()
                .filter(layer -> layer.hasTree(deletedKeyTree))
                .map(layer -> layer.tree(deletedKeyTree))
                .toList();
        return new DeletedKeys(
                index.entryKeys(),
                spatial instanceof IndexSearch.Nearest ? ScanBounds.DISTANCE_BYTES : 0,
                newestFirst,
                version.tree(deletedKeyTree));
    }

    /** A layer that is older than the index is not above it: its entries were built. */
    private boolean hasEntries(MemoryLayer layer) {
        return layer.hasTree(tree) && layer.tree(tree).entryCount() > 0;
    }
}
