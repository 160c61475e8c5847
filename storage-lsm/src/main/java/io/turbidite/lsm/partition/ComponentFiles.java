package io.turbidite.lsm.partition;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapOwner;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.DeadState;
import io.turbidite.lsm.version.StoreFiles;

import org.jspecify.annotations.Nullable;

import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/** Creates and opens the component files of a partition's trees, which go by their index's id. Stateless. */
public final class ComponentFiles {
    private ComponentFiles() {}

    /** Whether writers mark what they supersede in the components of a tree (LUO19 §5). */
    public static boolean isLive(DatasetSchema schema, int tree) {
        return tree == IndexSchema.PRIMARY_ID && schema.maintenance() == Maintenance.MUTABLE_BITMAP;
    }

    /**
     * Opens a component that was just written and gives it the bitmap that was made with it, which stays the caller's if
     * that fails.
     *
     * @param generation 0 as flushed, else as merged
     */
    public static ComponentHandle openWith(
            Substrate substrate,
            ComponentHeader header,
            int generation,
            MutableValidityBitmap live) {
        DiskComponent component = openWritten(substrate, header);
        return ComponentHandle.ofLive(
                fresh(component, generation), component, live, substrate.reaper());
    }

    /**
     * Reads a component's dead entries.
     *
     * @throws CorruptionException also if the file is not the one that the manifest means
     */
    public static ImmutableValidityBitmap openDead(
            Substrate substrate, DiskComponent component, DeadState state) {
        return openDead(substrate, component, state, StoreFiles.dead(state.fileId()));
    }

    /** As {@link #openDead(Substrate, DiskComponent, DeadState)}, from a file that is not in its place yet. */
    public static ImmutableValidityBitmap openDead(
            Substrate substrate, DiskComponent component, DeadState state, String name) {
        ImmutableValidityBitmap dead = ImmutableValidityBitmap.open(
                substrate.disk(),
                name,
                new ValidityBitmapOwner(
                        component.header().storeId(),
                        state.fileId(),
                        component.header().fileId()));
        DeadState found = new DeadState(state.fileId(), dead.bytes(), dead.count());
        if (!found.equals(state) || dead.entryCount() != component.entryCount()) {
            dead.close();
            throw new CorruptionException(
                    name,
                    0,
                    "dead entries",
                    "%s of %d entries".formatted(state, component.entryCount()),
                    "%s of %d entries".formatted(found, dead.entryCount()));
        }
        return dead;
    }

    /** Opens a component that was just flushed or loaded: its data was never merged. */
    public static ComponentHandle openNew(
            Substrate substrate, DatasetSchema schema, int partition, int tree, long fileId) {
        return open(substrate, schema, partition, tree, fileId, 0);
    }

    /**
     * Opens a component that was just merged from others.
     *
     * @param repaired null if it was not repaired: then it is checked as far as all of them are
     */
    public static ComponentHandle openMerged(
            Substrate substrate,
            DatasetSchema schema,
            int partition,
            int tree,
            long fileId,
            List<ComponentHandle> inputs,
            @Nullable Repaired repaired) {
        int generation = 0;
        long repairedTimestamp = Long.MAX_VALUE;
        for (ComponentHandle input : inputs) {
            generation = Math.max(generation, input.state().generation() + 1);
            repairedTimestamp = Math.min(repairedTimestamp, input.state().repairedTimestamp());
        }
        DiskComponent component = openFile(substrate, schema, partition, tree, fileId);
        ComponentState state =
                fresh(component, generation).withRepaired(repairedTimestamp, DeadState.NONE);
        if (repaired == null) {
            return ComponentHandle.of(state, component, null, substrate.reaper());
        }
        ComponentHandle handle = null;
        try {
            DeadState deadState = writeDead(substrate, component, repaired.dead());
            ImmutableValidityBitmap dead =
                    deadState.isNone() ? null : openWrittenDead(substrate, component, deadState);
            handle = ComponentHandle.of(
                    state.withRepaired(repaired.timestamp(), deadState),
                    component,
                    dead,
                    substrate.reaper());
            return handle;
        } finally {
            if (handle == null) {
                // no space for the bitmap, perhaps: the component must not take it
                letGo(
                        List.of(ComponentHandle.of(state, component, null, substrate.reaper())),
                        false);
            }
        }
    }

    /** Writes a component's dead entries, if there are any; the directory is the caller's to sync. */
    public static DeadState writeDead(
            Substrate substrate, DiskComponent component, ValidityBitmapBuilder dead) {
        if (dead.count() == 0) {
            return DeadState.NONE;
        }
        long fileId = substrate.manifest().newFileId();
        ValidityBitmapOwner owner = new ValidityBitmapOwner(
                component.header().storeId(), fileId, component.header().fileId());
        long bytes = dead.write(
                substrate.disk(), StoreFiles.dead(fileId), owner, component.entryCount());
        return new DeadState(fileId, bytes, dead.count());
    }

    /**
     * What a repair found of a component.
     *
     * @param timestamp up to where it is checked now
     * @param dead the entries that are dead
     */
    public record Repaired(long timestamp, ValidityBitmapBuilder dead) {}

    /** Opens a component of an index that was just built after one of the primary. */
    public static ComponentHandle openBuilt(
            Substrate substrate,
            DatasetSchema schema,
            int partition,
            int tree,
            long fileId,
            ComponentHandle source) {
        return open(substrate, schema, partition, tree, fileId, source.state().generation());
    }

    private static ComponentHandle open(
            Substrate substrate,
            DatasetSchema schema,
            int partition,
            int tree,
            long fileId,
            int generation) {
        if (isLive(schema, tree)) {
            ComponentHeader header = header(substrate, schema, partition, tree, fileId);
            return openFresh(substrate, header, generation);
        }
        DiskComponent component = openFile(substrate, schema, partition, tree, fileId);
        return ComponentHandle.of(
                fresh(component, generation), component, null, substrate.reaper());
    }

    /** All entries are alive. */
    private static ComponentHandle openFresh(
            Substrate substrate, ComponentHeader header, int generation) {
        DiskComponent component = openWritten(substrate, header);
        try (Undo undo = Undo.of(component::close)) {
            MutableValidityBitmap live =
                    MutableValidityBitmap.create(substrate.bitmaps(), component.entryCount());
            undo.keep();
            return ComponentHandle.ofLive(
                    fresh(component, generation), component, live, substrate.reaper());
        }
    }

    private static DiskComponent openFile(
            Substrate substrate, DatasetSchema schema, int partition, int tree, long fileId) {
        return openWritten(substrate, header(substrate, schema, partition, tree, fileId));
    }

    /** Opens the file of a component that was just written; one that can't be opened is deleted. */
    private static DiskComponent openWritten(Substrate substrate, ComponentHeader header) {
        return openOrDelete(
                substrate,
                StoreFiles.component(header.fileId()),
                () -> openFile(substrate, header));
    }

    /**
     * Opens dead entries that were just written; a file that can't be opened is deleted.
     *
     * @throws CorruptionException if what is there is not what was written
     */
    public static ImmutableValidityBitmap openWrittenDead(
            Substrate substrate, DiskComponent component, DeadState state) {
        return openOrDelete(
                substrate,
                StoreFiles.dead(state.fileId()),
                () -> openDead(substrate, component, state));
    }

    /** The work is tried again and writes another file: without this, each try would leave one. */
    private static <T> T openOrDelete(Substrate substrate, String name, Supplier<T> opening) {
        try {
            return opening.get();
        } catch (StorageException failure) {
            try {
                substrate.disk().delete(name);
            } catch (StorageException left) {
                failure.addSuppressed(left); // no manifest names it: the next opening moves it
            }
            throw failure;
        }
    }

    /** Opens the file of a component. */
    static DiskComponent openFile(Substrate substrate, ComponentHeader header) {
        return DiskComponent.open(
                        substrate.componentDisk(),
                        StoreFiles.component(header.fileId()),
                        header,
                        substrate.cache())
                .reportingTo(substrate.quarantine()::met);
    }

    static ComponentState fresh(DiskComponent component, int generation) {
        return ComponentState.fresh(
                component.header().fileId(),
                component.id().minTimestamp(),
                component.id().maxTimestamp(),
                component.bytes(),
                generation);
    }

    /** A writer for a tree. */
    public static ComponentWriter create(
            Substrate substrate,
            DatasetSchema schema,
            int partition,
            int tree,
            long fileId,
            long expectedEntries) {
        return substrate
                .writers()
                .create(
                        StoreFiles.component(fileId),
                        header(substrate, schema, partition, tree, fileId),
                        options(schema, tree),
                        expectedEntries);
    }

    /**
     * How a tree's components look. The primary alone has a key tree. Where primary keys are looked up, in
     * the primary and in companions, there is a Bloom filter.
     */
    public static ComponentOptions options(DatasetSchema schema, int tree) {
        ComponentOptions options = schema.components().withPages(schema.pages(tree));
        if (tree == IndexSchema.PRIMARY_ID) {
            return options;
        }
        return options.withBloom(options.bloom() && IndexSchema.isCompanion(tree))
                .withKeyTree(false);
    }

    /** Lets the maker's references go; files that were not installed are deleted. */
    public static void letGo(Collection<ComponentHandle> handles, boolean installed) {
        for (ComponentHandle handle : handles) {
            if (!installed) {
                handle.markObsolete();
            }
            handle.release();
        }
    }

    public static ComponentHeader header(
            Substrate substrate, DatasetSchema schema, int partition, int tree, long fileId) {
        return new ComponentHeader(
                substrate.manifest().state().storeId(), fileId, schema.id(), partition, tree);
    }
}
