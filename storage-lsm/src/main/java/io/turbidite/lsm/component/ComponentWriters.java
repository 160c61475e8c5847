package io.turbidite.lsm.component;

import io.turbidite.core.file.Disk;
import io.turbidite.lsm.btree.FencesBuilder;
import io.turbidite.lsm.btree.LeafBuilder;

import org.jspecify.annotations.Nullable;

import java.lang.ref.SoftReference;
import java.util.ArrayDeque;

/**
 * Makes the component writers of a store, and keeps what one has collected a tree with for the
 * next: the columns of a page and the fences of a tree grow with each component from nothing
 * otherwise, which was a fifth of all garbage of ingestion.
 *
 * <p><em>Thread-safe.</em> Keeps {@link #SPARE_COUNT_MAX} at most, of {@link #SPARE_BYTES_MAX}
 * each, softly: they are on the heap, and go before it is full.
 */
public final class ComponentWriters {
    /** A flush and two merges, each of two trees, and some. */
    private static final int SPARE_COUNT_MAX = 8;

    /** The fences of 50,000 pages. */
    private static final long SPARE_BYTES_MAX = 2 << 20;

    private final Disk disk;

    /** Used by one at a time, guarded by this. */
    private final ArrayDeque<SoftReference<Builders>> spares = new ArrayDeque<>();

    /**
     * @param disk where components are written
     */
    public ComponentWriters(Disk disk) {
        this.disk = disk;
    }

    /** As {@link ComponentWriter#create}. */
    public ComponentWriter create(
            String name, ComponentHeader header, ComponentOptions options, long expectedEntries) {
        return ComponentWriter.create(
                new Place(disk, name, this), header, options, expectedEntries);
    }

    /** Builders without an entry, for pages of that many bytes. */
    Builders take(int pageBytes) {
        Builders taken = takeSpare();
        if (taken == null) {
            return new Builders(new LeafBuilder(pageBytes), new FencesBuilder());
        }
        taken.leaf.restart(pageBytes);
        taken.fences.restart();
        return taken;
    }

    private synchronized @Nullable Builders takeSpare() {
        Builders taken = null;
        while (taken == null && !spares.isEmpty()) {
            taken = spares.removeLast().get();
        }
        return taken;
    }

    /** Takes builders back, in whatever state they are. */
    synchronized void give(Builders builders) {
        if (spares.size() < SPARE_COUNT_MAX && builders.memoryBytes() <= SPARE_BYTES_MAX) {
            spares.addLast(new SoftReference<>(builders));
        }
    }

    /** Where a component is written, and who lends the builders. */
    record Place(Disk disk, String name, ComponentWriters writers) {}

    /** What one tree is collected with. */
    record Builders(LeafBuilder leaf, FencesBuilder fences) {
        long memoryBytes() {
            return leaf.memoryBytes() + fences.memoryBytes();
        }
    }
}
