package io.turbidite.lsm.partition;

import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.StoreFiles;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;

/**
 * A component of a partition's tree being built, by flush, merge, bulk load, index building or a
 * backup.
 *
 * <ol>
 *   <li>{@link #of} gives it its number, {@link #create} its file; before that, {@link
 *       #withBitmap} a bitmap that writers mark while it is built;
 *   <li>its entries are added to the {@link #writer} in order, and {@link #finish} makes the
 *       file durable;
 *   <li>{@link #open} and its like make a handle of it, which is its maker's: one that is not
 *       installed goes with {@link ComponentFiles#letGo}.
 * </ol>
 *
 * <p>Closing it lets go what no handle has got: a file that was not finished is deleted. So is one
 * that can't be opened, for the work is tried again and writes another.
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class ComponentBuild implements AutoCloseable {
    private final StoreCore core;
    private final DatasetSchema schema;
    private final ComponentHeader header;
    private @Nullable ComponentWriter writer;

    /** Of the component, until its handle owns it. */
    private @Nullable MutableValidityBitmap live;

    private ComponentBuild(StoreCore core, DatasetSchema schema, ComponentHeader header) {
        this.core = core;
        this.schema = schema;
        this.header = header;
    }

    /**
     * A component that has a number, and no file yet.
     *
     * @param schema what the tree is; the partition's may have changed meanwhile
     * @param tree by its index's id
     */
    public static ComponentBuild of(
            StoreCore core, DatasetSchema schema, int partition, TreeId tree) {
        long fileId = core.manifest().newFileId();
        return new ComponentBuild(
                core, schema, ComponentFiles.header(core, schema, partition, tree, fileId));
    }

    /** As {@link #of(StoreCore, DatasetSchema, int, TreeId)}. */
    public static ComponentBuild of(Partition partition, DatasetSchema schema, TreeId tree) {
        return of(partition.core(), schema, partition.number(), tree);
    }

    public long fileId() {
        return header.fileId();
    }

    /** Where its file is. */
    public String name() {
        return StoreFiles.component(header.fileId());
    }

    /**
     * Gives it a bitmap, all of whose entries are valid; otherwise a tree that has bitmaps gets one
     * when it is opened.
     *
     * @param entryCountMax at least as many as will come
     */
    public MutableValidityBitmap withBitmap(long entryCountMax) {
        MutableValidityBitmap made = MutableValidityBitmap.create(core.bitmaps(), entryCountMax);
        live = made;
        return made;
    }

    /** The bitmap that it was given. */
    public @Nullable MutableValidityBitmap bitmap() {
        return live;
    }

    /** Creates the file; see {@link ComponentWriter#create} for {@code expectedEntries}. */
    public ComponentWriter create(long expectedEntries) {
        ComponentWriter made = core.writers().create(name(), header, options(), expectedEntries);
        writer = made;
        return made;
    }

    /** As {@link #create(long)}, on another disk than the store's. */
    public ComponentWriter createOn(Disk target, long expectedEntries) {
        ComponentWriter made =
                ComponentWriter.create(target, name(), header, options(), expectedEntries);
        writer = made;
        return made;
    }

    private ComponentOptions options() {
        return ComponentFiles.options(schema, TreeId.of(header));
    }

    /** Where the entries go, once the file is there. */
    public ComponentWriter writer() {
        return Objects.requireNonNull(writer);
    }

    /** As {@link ComponentWriter#finish}; the directory is the caller's to sync. */
    public void finish(
            ComponentId id, ComponentFilter filter, long minWallMicros, long maxWallMicros) {
        writer().finish(id, filter, minWallMicros, maxWallMicros);
    }

    /**
     * Opens what was finished.
     *
     * @param generation 0 if its data was never merged
     */
    public ComponentHandle open(int generation) {
        DiskComponent component = openFile();
        if (live == null && !ComponentFiles.isLive(schema, TreeId.of(header))) {
            return ComponentHandle.of(
                    ComponentFiles.fresh(component, generation), component, null, core.reaper());
        }
        MutableValidityBitmap bitmap = live;
        if (bitmap == null) {
            try (Undo undo = Undo.of(component::close)) {
                bitmap = undo.keep(withBitmap(component.entryCount()));
            }
        }
        ComponentHandle handle = ComponentHandle.ofLive(
                ComponentFiles.fresh(component, generation), component, bitmap, core.reaper());
        live = null;
        return handle;
    }

    /**
     * Opens what was merged from others and finished.
     *
     * @param repaired null if it was not repaired: then it is checked as far as all of them are
     */
    public ComponentHandle openMerged(
            List<ComponentHandle> inputs, ComponentFiles.@Nullable Repaired repaired) {
        int generation = 0;
        long repairedTimestamp = Long.MAX_VALUE;
        for (ComponentHandle input : inputs) {
            generation = Math.max(generation, input.state().generation() + 1);
            repairedTimestamp = Math.min(repairedTimestamp, input.state().repairedTimestamp());
        }
        if (live != null) {
            return open(generation);
        }
        DiskComponent component = openFile();
        ComponentState state = ComponentFiles.fresh(component, generation)
                .withRepaired(repairedTimestamp, BitmapState.NONE);
        if (repaired == null) {
            return ComponentHandle.of(state, component, null, core.reaper());
        }
        // no space for the bitmap, perhaps: the component must not take it
        try (Undo undo = Undo.of(() -> ComponentFiles.letGo(
                List.of(ComponentHandle.of(state, component, null, core.reaper())), false))) {
            return undo.keep(withBitmaps(component, state, repaired));
        }
    }

    private ComponentHandle withBitmaps(
            DiskComponent component, ComponentState state, ComponentFiles.Repaired repaired) {
        BitmapState invalidEntries =
                ComponentFiles.writeBitmap(core, component, repaired.invalidEntries());
        return ComponentHandle.of(
                state.withRepaired(repaired.timestamp(), invalidEntries),
                component,
                invalidEntries.isNone()
                        ? null
                        : ComponentFiles.openWrittenBitmap(core, component, invalidEntries),
                core.reaper());
    }

    private DiskComponent openFile() {
        return ComponentFiles.openOrDelete(
                core, name(), () -> ComponentFiles.openFile(core, header));
    }

    @Override
    public void close() {
        try {
            if (writer != null) {
                writer.close();
            }
        } finally {
            if (live != null) {
                live.close();
                live = null;
            }
        }
    }
}
