package io.turbidite.lsm.version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The layers of all indexes of a partition at one moment (D3). Whoever reads pins it; it holds its
 * layers until the last pin and its place as the current version are gone.
 *
 * <p><em>Immutable</em> but for the pin count, which is <em>thread-safe</em> by compare-and-swap.
 *
 * <ol>
 *   <li>Layers are ordered newest first and cover disjoint ranges of timestamps: the first layer that
 *       holds a version of a key at or below a snapshot holds the newest.
 *   <li>At most one layer is frozen.
 * </ol>
 */
public final class Version {
    private final MemoryLayer current;
    private final @Nullable MemoryLayer frozen;
    private final List<List<ComponentHandle>> trees;
    private final AtomicInteger pins = new AtomicInteger(1);

    /** Takes a reference of its own on every layer. */
    public Version(
            MemoryLayer current, @Nullable MemoryLayer frozen, List<List<ComponentHandle>> trees) {
        this.current = current;
        this.frozen = frozen;
        this.trees = trees.stream().map(List::copyOf).toList();
        current.retain();
        if (frozen != null) {
            frozen.retain();
        }
        for (List<ComponentHandle> tree : this.trees) {
            tree.forEach(ComponentHandle::retain);
        }
    }

    public MemoryLayer current() {
        return current;
    }

    public @Nullable MemoryLayer frozen() {
        return frozen;
    }

    /** The disk components of the primary (0) or of a secondary, newest first. */
    public List<ComponentHandle> tree(int tree) {
        return trees.get(tree);
    }

    public int treeCount() {
        return trees.size();
    }

    /** The same with another current layer and the old one frozen. */
    public Version withFrozen(MemoryLayer newCurrent) {
        assert frozen == null;
        return new Version(newCurrent, current, trees);
    }

    /** The same with the frozen layer replaced by its components, one for each tree. */
    public Version withFlushed(List<ComponentHandle> flushed) {
        List<List<ComponentHandle>> grown = new ArrayList<>();
        for (int tree = 0; tree < trees.size(); tree++) {
            List<ComponentHandle> components = new ArrayList<>();
            components.add(flushed.get(tree));
            components.addAll(trees.get(tree));
            grown.add(components);
        }
        return new Version(current, null, grown);
    }

    /** The same with neighbours of one tree replaced by what they were merged into. */
    public Version withMerged(int tree, List<ComponentHandle> inputs, ComponentHandle merged) {
        List<List<ComponentHandle>> changed = new ArrayList<>(trees);
        List<ComponentHandle> components = new ArrayList<>(trees.get(tree));
        int first = components.indexOf(inputs.get(0));
        assert first >= 0 && components.subList(first, first + inputs.size()).equals(inputs);
        components.subList(first, first + inputs.size()).clear();
        components.add(first, merged);
        changed.set(tree, components);
        return new Version(current, frozen, changed);
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
        }
    }
}
