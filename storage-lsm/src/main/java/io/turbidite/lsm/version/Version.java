package io.turbidite.lsm.version;

import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The layers of all indexes of a partition at one moment (D3). Whoever reads pins it; it holds its
 * layers until the last pin and its place as the current version are gone.
 *
 * <p><em>Immutable</em> but for the pin count, which is <em>thread-safe</em> by compare-and-swap.
 *
 * <ol>
 *   <li>Layers are ordered newest first and cover disjoint ranges of timestamps: the first layer
 *       that holds a version of a key at or below a snapshot holds the newest.
 *   <li>At most one layer is frozen.
 *   <li>Trees are named by the ids of their indexes, which stay what they are while the schema
 *       changes.
 *   <li>An index whose disk part is a region has no tree on disk; the version says up to which
 *       timestamp the region speaks for itself. While it is built, there is no region either.
 * </ol>
 */
public final class Version {
    private final DatasetSchema schema;
    private final MemoryLayer current;
    private final @Nullable MemoryLayer frozen;
    private final int[] treeNumbers;
    private final List<List<ComponentHandle>> trees;
    private final List<RegionLayer> regions;

    /**
     * The first tree's: lists of up to two and of more are of two classes, which compiled code
     * would tell apart.
     */
    private final ComponentHandle[] primary;

    private final AtomicInteger pins = new AtomicInteger(1);

    /** Versions of the partition that somebody holds. */
    private final AtomicInteger live;

    /**
     * A partition's first version; takes a reference of its own on every layer, as all of them do.
     *
     * @param trees for each tree of the schema its components, newest first
     * @param regions for each index of the schema that has one
     */
    public Version(
            DatasetSchema schema,
            MemoryLayer current,
            Map<TreeId, List<ComponentHandle>> trees,
            List<RegionLayer> regions) {
        this(schema, current, null, trees, regions, new AtomicInteger());
    }

    private Version(
            DatasetSchema schema,
            MemoryLayer current,
            @Nullable MemoryLayer frozen,
            Map<TreeId, List<ComponentHandle>> trees,
            List<RegionLayer> regions,
            AtomicInteger live) {
        this.live = live;
        live.incrementAndGet();
        this.schema = schema;
        this.current = current;
        this.frozen = frozen;
        this.treeNumbers = schema.treeIds().stream().mapToInt(TreeId::number).toArray();
        this.trees = schema.treeIds().stream()
                .map(id -> List.copyOf(trees.getOrDefault(id, List.of())))
                .toList();
        this.primary = tree(TreeId.PRIMARY).toArray(ComponentHandle[]::new);
        current.retain();
        if (frozen != null) {
            frozen.retain();
        }
        for (List<ComponentHandle> tree : this.trees) {
            tree.forEach(ComponentHandle::retain);
        }
        this.regions = List.copyOf(regions);
        this.regions.forEach(region -> region.handle().retain());
    }

    /** What the trees are. A memory layer may have others: it is as old as it is. */
    public DatasetSchema schema() {
        return schema;
    }

    public MemoryLayer current() {
        return current;
    }

    public @Nullable MemoryLayer frozen() {
        return frozen;
    }

    /**
     * The disk components of a tree, newest first; none where a region takes their place, be it
     * there already or not.
     */
    public List<ComponentHandle> tree(TreeId tree) {
        for (int i = 0; i < treeNumbers.length; i++) {
            if (treeNumbers[i] == tree.number()) {
                return trees.get(i);
            }
        }
        IndexSchema index = schema.index(tree);
        if (index != null && index.hasRegion() && index.tree().equals(tree)) {
            return List.of();
        }
        throw new IllegalArgumentException("no tree %s in %s".formatted(tree, schema));
    }

    /** The regions, of indexes that have one. */
    public List<RegionLayer> regions() {
        return regions;
    }

    /** The region of an index, by its tree in memory layers; null if it has none. */
    public @Nullable RegionLayer region(TreeId tree) {
        // each search asks, and most versions have one or none: no iterator
        for (int i = 0; i < regions.size(); i++) {
            if (regions.get(i).tree().equals(tree)) {
                return regions.get(i);
            }
        }
        return null;
    }

    /** How many disk components the primary has. */
    public int primaryCount() {
        return primary.length;
    }

    /** The primary's disk component at {@code index}, 0 the newest. */
    public ComponentHandle primary(int index) {
        return primary[index];
    }

    public boolean hasTree(TreeId tree) {
        for (int number : treeNumbers) {
            if (number == tree.number()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether nothing older than the component at {@code lastIndex} of a tree can exist (design §4
     * rule 4). Under an index that is being built there will be what is built.
     */
    public boolean includesOldest(TreeId tree, int lastIndex) {
        IndexSchema index = schema.index(tree);
        return (index == null || index.state() != IndexSchema.State.BUILDING)
                && lastIndex >= tree(tree).size() - 1;
    }

    /**
     * Whether anti-matter below the horizon may go when the components of a tree down to
     * {@code lastIndex} are merged, or with -1 when a layer is flushed: nothing older can exist
     * (design §4 rule 4), or the index is deferred. There anti-matter is for what is in its own
     * layer alone: readers validate what is older, and the primary's merge hands on what it finds
     * superseded.
     */
    public boolean dropsAntimatter(TreeId tree, int lastIndex) {
        IndexSchema index = schema.index(tree);
        return (index != null && index.maintenance() == Maintenance.DEFERRED)
                || includesOldest(tree, lastIndex);
    }

    /**
     * How many of the newest components of a tree may be merged. Correlated policies take those
     * that have their like, with the same ID, in the same place of every other tree (design §4 rule
     * 9). While an index is being built, the primary's components that it is built from stay as
     * they are: were one merged with a newer one, a version could go whose entry writers count on.
     */
    public int mergeableCount(TreeId tree) {
        if (schema.mergePolicy().isCorrelated()) {
            return alignedCount();
        }
        List<ComponentHandle> handles = tree(tree);
        int free = handles.size();
        long builtBelow = builtBelow();
        while (tree.isPrimary()
                && free > 0
                && handles.get(free - 1).state().minTimestamp() < builtBelow) {
            free--;
        }
        return free;
    }

    /** What is older than this is not in the tree of an index that is being built; 0 if none is. */
    private long builtBelow() {
        for (IndexSchema index : schema.indexes()) {
            if (index.state() == IndexSchema.State.BUILDING) {
                if (index.hasRegion()) {
                    continue; // what it is built from is told by its timestamps, wherever it lies
                }
                List<ComponentHandle> tree = tree(index.tree());
                if (!tree.isEmpty()) {
                    return tree.getLast().state().minTimestamp();
                }
                MemoryLayer oldest =
                        frozen != null && frozen.hasTree(index.tree()) ? frozen : current;
                return oldest.minTimestamp();
            }
        }
        return 0;
    }

    private int alignedCount() {
        List<ComponentHandle> primary = tree(TreeId.PRIMARY);
        int aligned = primary.size();
        for (List<ComponentHandle> tree : trees) {
            int same = 0;
            while (same < Math.min(aligned, tree.size())
                    && primary.get(same).covers(tree.get(same))) {
                same++;
            }
            aligned = same;
        }
        return aligned;
    }

    /** The same without some disk components. */
    public Version without(Set<ComponentHandle> gone) {
        Map<TreeId, List<ComponentHandle>> left = new HashMap<>();
        components()
                .forEach((tree, handles) -> left.put(
                        tree,
                        handles.stream()
                                .filter(handle -> !gone.contains(handle))
                                .toList()));
        return new Version(schema, current, frozen, left, regions, live);
    }

    /** The same with another current layer and the old one frozen. */
    public Version withFrozen(MemoryLayer newCurrent) {
        assert frozen == null;
        return new Version(schema, newCurrent, current, components(), regions, live);
    }

    /** Other layers, none of them frozen; regions have absorbed them. */
    public Version withLoaded(
            MemoryLayer newCurrent, Map<TreeId, List<ComponentHandle>> loaded, long through) {
        return new Version(schema, newCurrent, null, loaded, regionsThrough(through), live);
    }

    /** The same with another current layer; the old one is empty. */
    public Version withCurrent(MemoryLayer newCurrent) {
        assert current.isEmpty();
        return new Version(schema, newCurrent, frozen, components(), regions, live);
    }

    /**
     * The same with another schema: trees that it does not have are left out, those it has beside
     * them are empty.
     */
    public Version withSchema(DatasetSchema changed) {
        List<RegionLayer> left = regions.stream()
                .filter(region -> changed.index(region.tree()) != null)
                .toList();
        return new Version(changed, current, frozen, components(), left, live);
    }

    /** The same with a region more. */
    public Version withRegion(RegionLayer region) {
        List<RegionLayer> more = new ArrayList<>(regions);
        more.add(region);
        return new Version(schema, current, frozen, components(), more, live);
    }

    /** As they are when layers up to a timestamp are gone. */
    private List<RegionLayer> regionsThrough(long timestamp) {
        return regions.stream().map(region -> region.through(timestamp)).toList();
    }

    /**
     * The same with the frozen layer replaced by its components; those of trees that are gone stay
     * out. Regions have absorbed it, or failed.
     *
     * @param through the layer's last timestamp
     */
    public Version withFlushed(Map<TreeId, ComponentHandle> flushed, long through) {
        Map<TreeId, List<ComponentHandle>> grown = components();
        flushed.forEach((id, component) ->
                grown.computeIfPresent(id, (key, tree) -> joined(List.of(component), tree)));
        return new Version(schema, current, null, grown, regionsThrough(through), live);
    }

    /** The same with components that are older than all that the tree has. */
    public Version withOldest(TreeId tree, List<ComponentHandle> older) {
        Map<TreeId, List<ComponentHandle>> grown = components();
        grown.computeIfPresent(tree, (key, newer) -> joined(newer, older));
        return new Version(schema, current, frozen, grown, regions, live);
    }

    private static List<ComponentHandle> joined(
            List<ComponentHandle> newer, List<ComponentHandle> older) {
        List<ComponentHandle> joined = new ArrayList<>(newer);
        joined.addAll(older);
        return joined;
    }

    /**
     * The same with neighbours of trees replaced by what they were merged into; trees may be gone.
     */
    public Version withMerged(List<MergedTree> merges) {
        Map<TreeId, List<ComponentHandle>> changed = components();
        for (MergedTree merge : merges) {
            if (!hasTree(merge.tree())) {
                continue;
            }
            List<ComponentHandle> inputs = merge.inputs();
            List<ComponentHandle> components = new ArrayList<>(tree(merge.tree()));
            int first = components.indexOf(inputs.get(0));
            assert first >= 0
                    && components.subList(first, first + inputs.size()).equals(inputs);
            components.subList(first, first + inputs.size()).clear();
            components.add(first, merge.output());
            changed.put(merge.tree(), components);
        }
        return new Version(schema, current, frozen, changed, regions, live);
    }

    /**
     * A merge of a tree.
     *
     * @param inputs neighbours, newest first
     */
    public record MergedTree(TreeId tree, List<ComponentHandle> inputs, ComponentHandle output) {
        public MergedTree {
            inputs = List.copyOf(inputs);
        }

        /** Bytes of the files of all inputs. */
        public long bytesRead() {
            return inputs.stream().mapToLong(input -> input.state().bytes()).sum();
        }
    }

    /** The disk components of all trees. */
    private Map<TreeId, List<ComponentHandle>> components() {
        Map<TreeId, List<ComponentHandle>> components = new HashMap<>();
        List<TreeId> treeIds = schema.treeIds();
        for (int i = 0; i < treeNumbers.length; i++) {
            components.put(treeIds.get(i), trees.get(i));
        }
        return components;
    }

    /** Pins the version unless it is already gone. */
    public boolean tryPin() {
        while (true) {
            int seen = pins.get();
            if (seen == 0) {
                return false;
            }
            if (pins.compareAndSet(seen, seen + 1)) {
                return true;
            }
        }
    }

    /** Lets one pin go; the last one lets the layers go. */
    public void unpin() {
        int left = pins.decrementAndGet();
        assert left >= 0 : "version is unpinned twice";
        if (left == 0) {
            current.release();
            if (frozen != null) {
                frozen.release();
            }
            for (List<ComponentHandle> tree : trees) {
                tree.forEach(ComponentHandle::release);
            }
            regions.forEach(region -> region.handle().release());
            live.decrementAndGet();
        }
    }

    /**
     * Versions of the partition that are held: the current one, and old ones that somebody reads.
     */
    public int liveCount() {
        return live.get();
    }
}
