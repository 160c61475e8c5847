package io.turbidite.lsm.partition;

import io.turbidite.core.CorruptionException;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.StoreFiles;

import java.util.Collection;
import java.util.List;

/** Creates and opens the component files of a partition's trees, which go by their index's id. Stateless. */
public final class ComponentFiles {
    private ComponentFiles() {}

    /**
     * Opens a component that the manifest names.
     *
     * @throws CorruptionException also if the file is not the one that the manifest means
     */
    static ComponentHandle open(
            Substrate substrate,
            DatasetSchema schema,
            int partition,
            int tree,
            ComponentState state) {
        ComponentHandle handle =
                open(substrate, schema, partition, tree, state.fileId(), state.generation());
        if (!handle.state().equals(state)) {
            handle.release();
            throw new CorruptionException(
                    StoreFiles.component(state.fileId()),
                    0,
                    "component",
                    state.toString(),
                    handle.state().toString());
        }
        return handle;
    }

    /** Opens a component that was just flushed or loaded: its data was never merged. */
    static ComponentHandle openNew(
            Substrate substrate, DatasetSchema schema, int partition, int tree, long fileId) {
        return open(substrate, schema, partition, tree, fileId, 0);
    }

    /** Opens a component that was just merged from others. */
    static ComponentHandle openMerged(
            Substrate substrate,
            DatasetSchema schema,
            int partition,
            int tree,
            long fileId,
            List<ComponentHandle> inputs) {
        int generation = 1
                + inputs.stream()
                        .mapToInt(input -> input.state().generation())
                        .max()
                        .orElseThrow();
        return open(substrate, schema, partition, tree, fileId, generation);
    }

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
        DiskComponent component = DiskComponent.open(
                substrate.componentDisk(),
                StoreFiles.component(fileId),
                header(substrate, schema, partition, tree, fileId),
                substrate.cache());
        ComponentState state = new ComponentState(
                fileId,
                component.id().minTimestamp(),
                component.id().maxTimestamp(),
                component.bytes(),
                generation);
        return new ComponentHandle(state, component, substrate.graveyard());
    }

    /** A writer for a tree. */
    public static ComponentWriter create(
            Substrate substrate,
            DatasetSchema schema,
            int partition,
            int tree,
            long fileId,
            long expectedEntries) {
        return ComponentWriter.create(
                substrate.componentDisk(),
                StoreFiles.component(fileId),
                header(substrate, schema, partition, tree, fileId),
                options(schema, tree),
                expectedEntries);
    }

    /**
     * How a tree's components look. The primary alone has a key tree. Where primary keys are looked up, in
     * the primary and in companions, there is a Bloom filter.
     */
    static ComponentOptions options(DatasetSchema schema, int tree) {
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

    static ComponentHeader header(
            Substrate substrate, DatasetSchema schema, int partition, int tree, long fileId) {
        return new ComponentHeader(
                substrate.manifest().state().storeId(), fileId, schema.id(), partition, tree);
    }
}
