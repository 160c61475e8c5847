package io.turbidite.lsm.indexbuild;

import io.turbidite.core.StorageIoException;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.RegionFiles;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.RegionState;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Builds one partition's region of a new index, from the primary:
 *
 * <ol>
 *   <li>Hold the primary's components, so that no merge drops anti-matter of what was absorbed, and
 *       absorb them in one go, by key.
 *   <li>What writers flush meanwhile is absorbed at the end, from the components that the flushes
 *       left: under the manifest's lock, so that no flush comes in between ({@link #catchUp}).
 *   <li>From then on the flushes themselves feed the region.
 * </ol>
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class RegionBuild implements IndexFilling {
    private final Partition partition;
    private final DatasetSchema schema;
    private final IndexSchema index;
    private final long below;
    private final long memoryBytes;
    private final List<ComponentHandle> held = new ArrayList<>();
    private @Nullable RegionHandle handle;
    private long through;
    private long entriesTotal;
    private long entriesRead;

    /**
     * @param schema with the index, in state {@code BUILDING}
     * @param below what writers have put in before this timestamp is on disk, or about to be
     * @param memoryBytes for sorting
     */
    public RegionBuild(
            Partition partition,
            DatasetSchema schema,
            IndexSchema index,
            long below,
            long memoryBytes) {
        this.below = below;
        this.partition = partition;
        this.schema = schema;
        this.index = index;
        this.memoryBytes = memoryBytes;
    }

    @Override
    public boolean tryHold() {
        Version pinned = partition.pin();
        try {
            MemoryLayer frozen = pinned.frozen();
            if (frozen != null && frozen.minTimestamp() < below) {
                return false; // what the index has no entries of is not on disk yet
            }
            List<ComponentHandle> all = pinned.tree(TreeId.PRIMARY);
            // nobody merges what is set aside: there is nothing to wait for
            all.forEach(component -> component.component().requireSound());
            List<ComponentHandle> taken =
                    all.stream().takeWhile(ComponentHandle::tryTake).toList();
            boolean got = taken.size() == all.size()
                    && (all.isEmpty() || partition.holds(TreeId.PRIMARY, all));
            if (!got) {
                taken.forEach(ComponentHandle::giveBack);
                return false;
            }
            all.forEach(ComponentHandle::retain);
            held.addAll(all);
        } finally {
            pinned.unpin();
        }
        for (ComponentHandle component : held) {
            entriesTotal += component.component().entryCount();
        }
        return true;
    }

    /** All is read in {@link #complete}. */
    @Override
    public boolean read(int entryCount) {
        return false;
    }

    @Override
    public void complete(BooleanSupplier stop) {
        try {
            fill(stop);
        } catch (StorageIoException failed) {
            throw failed.in("the region of partition %d of index %s of %s"
                    .formatted(partition.number(), index.name(), schema.name()));
        }
    }

    private void fill(BooleanSupplier stop) {
        RegionHandle made = RegionFiles.create(partition.core(), schema, partition.number(), index);
        handle = made;
        long last = held.isEmpty() ? 0 : held.getFirst().state().maxTimestamp();
        absorb(made, held, last, stop);
        entriesRead = entriesTotal;
    }

    private void absorb(
            RegionHandle into, List<ComponentHandle> from, long last, BooleanSupplier stop) {
        new RegionFill(partition.core(), schema, index, into.region(), memoryBytes)
                .run(from, through, last, stop);
        through = last;
    }

    /** What was built is installed with the schema that names it. */
    @Override
    public void install() {}

    /**
     * Absorbs what was flushed since; under the manifest's lock.
     *
     * @return what the manifest says of the region
     */
    public RegionState catchUp() {
        RegionHandle made = made();
        long last = partition.flushedTimestamp();
        if (last > through) {
            Version pinned = partition.pin();
            try {
                List<ComponentHandle> newer = pinned.tree(TreeId.PRIMARY).stream()
                        .filter(component -> component.state().maxTimestamp() > through)
                        .toList();
                absorb(made, newer, last, () -> false);
            } finally {
                pinned.unpin();
            }
        }
        return new RegionState(index.tree(), made.id(), through);
    }

    /** Lets readers have the region; under the manifest's lock. */
    public void installRegion() {
        partition.current().installRegion(new RegionLayer(index.tree(), made(), through));
    }

    private RegionHandle made() {
        RegionHandle made = handle;
        if (made == null) {
            throw new IllegalStateException("the build is not complete");
        }
        return made;
    }

    public Partition partition() {
        return partition;
    }

    @Override
    public long entriesRead() {
        return entriesRead;
    }

    @Override
    public long entriesTotal() {
        return entriesTotal;
    }

    @Override
    public void close(boolean installed) {
        RegionHandle made = handle;
        handle = null;
        if (made != null) {
            if (!installed) {
                made.markObsolete();
            }
            made.release();
        }
        held.forEach(ComponentHandle::giveBack);
        ComponentFiles.letGo(held, true);
        held.clear();
    }
}
