package io.turbidite.lsm.partition;

import io.turbidite.core.Cleanup;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.index.SpatialKeys;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapOwner;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.StoreFiles;

import java.util.Collection;
import java.util.function.Supplier;

/**
 * What the component files of a partition's trees, which go by their index's id, are and hold.
 * Stateless.
 */
public final class ComponentFiles {
    private ComponentFiles() {}

    /** Whether writers mark what they supersede in the components of a tree (LUO19 §5). */
    public static boolean isLive(DatasetSchema schema, TreeId tree) {
        return tree.isPrimary() && schema.maintenance() == Maintenance.MUTABLE_BITMAP;
    }

    /**
     * Reads a component's invalid entries.
     *
     * @throws CorruptionException also if the file is not the one that the manifest means
     */
    public static ImmutableValidityBitmap openBitmap(
            StoreCore core, DiskComponent component, BitmapState state) {
        return openBitmap(core, component, state, StoreFiles.bitmap(state.fileId()));
    }

    /**
     * As {@link #openBitmap(StoreCore, DiskComponent, BitmapState)}, from a file that is not in its
     * place yet.
     */
    public static ImmutableValidityBitmap openBitmap(
            StoreCore core, DiskComponent component, BitmapState state, String name) {
        ImmutableValidityBitmap invalidEntries = ImmutableValidityBitmap.open(
                core.disk(),
                name,
                new ValidityBitmapOwner(
                        component.header().storeId(),
                        state.fileId(),
                        component.header().fileId()));
        BitmapState found =
                new BitmapState(state.fileId(), invalidEntries.bytes(), invalidEntries.count());
        if (!found.equals(state) || invalidEntries.entryCount() != component.entryCount()) {
            invalidEntries.close();
            throw new CorruptionException(
                    name,
                    0,
                    "invalid entries",
                    "%s of %d entries".formatted(state, component.entryCount()),
                    "%s of %d entries".formatted(found, invalidEntries.entryCount()));
        }
        return invalidEntries;
    }

    /**
     * Writes a component's invalid entries, if there are any; the directory is the caller's to
     * sync.
     */
    public static BitmapState writeBitmap(
            StoreCore core, DiskComponent component, ValidityBitmapBuilder invalidEntries) {
        if (invalidEntries.count() == 0) {
            return BitmapState.NONE;
        }
        long fileId = core.manifest().newFileId();
        ValidityBitmapOwner owner = new ValidityBitmapOwner(
                component.header().storeId(), fileId, component.header().fileId());
        long bytes = invalidEntries.write(
                core.disk(), StoreFiles.bitmap(fileId), owner, component.entryCount());
        return new BitmapState(fileId, bytes, invalidEntries.count());
    }

    /**
     * What a repair found of a component.
     *
     * @param timestamp up to where it is checked now
     * @param invalidEntries the entries that are invalid
     */
    public record Repaired(long timestamp, ValidityBitmapBuilder invalidEntries) {}

    /**
     * Opens invalid entries that were just written; a file that can't be opened is deleted.
     *
     * @throws CorruptionException if what is there is not what was written
     */
    public static ImmutableValidityBitmap openWrittenBitmap(
            StoreCore core, DiskComponent component, BitmapState state) {
        return openOrDelete(
                core, StoreFiles.bitmap(state.fileId()), () -> openBitmap(core, component, state));
    }

    /** The work is tried again and writes another file: without this, each try would leave one. */
    static <T> T openOrDelete(StoreCore core, String name, Supplier<T> opening) {
        try {
            return opening.get();
        } catch (StorageException failure) {
            try {
                core.disk().delete(name);
            } catch (StorageException left) {
                failure.addSuppressed(left); // no manifest names it: the next opening moves it
            }
            throw failure;
        }
    }

    /** Opens the file of a component. */
    static DiskComponent openFile(StoreCore core, ComponentHeader header) {
        return DiskComponent.open(
                        core.componentDisk(),
                        StoreFiles.component(header.fileId()),
                        header,
                        core.cache())
                .reportingTo(core.quarantine()::met);
    }

    static ComponentState fresh(DiskComponent component, int generation) {
        return ComponentState.fresh(
                component.header().fileId(),
                component.id().minTimestamp(),
                component.id().maxTimestamp(),
                component.bytes(),
                generation);
    }

    /**
     * How a tree's components look. The primary alone has a key tree. Where primary keys are looked
     * up, in the primary and in deleted-key trees, there is a Bloom filter; in an inverted index
     * there is one of the tokens, in an R-tree there are boxes.
     */
    public static ComponentOptions options(DatasetSchema schema, TreeId tree) {
        ComponentOptions options = schema.components().withPages(schema.pages(tree));
        if (tree.isPrimary()) {
            return options;
        }
        IndexSchema index = schema.index(tree);
        SpatialKind boxes = index != null
                        && !tree.isDeletedKeyTree()
                        && index.entryKeys() instanceof SpatialKeys spatial
                ? spatial.kind()
                : null;
        boolean tokens = index != null
                && !tree.isDeletedKeyTree()
                && index.kind() == IndexDescription.Kind.INVERTED;
        return options.withBloom(options.bloom() && (tokens || tree.isDeletedKeyTree()))
                .withTokens(tokens)
                .withKeyTree(false)
                .withBoxes(boxes);
    }

    /** Lets the maker's references go; files that were not installed are deleted. */
    public static void letGo(Collection<ComponentHandle> handles, boolean installed) {
        if (!installed) {
            handles.forEach(ComponentHandle::markObsolete);
        }
        new Cleanup().addAll(handles, ComponentHandle::release).run();
    }

    public static ComponentHeader header(
            StoreCore core, DatasetSchema schema, int partition, TreeId tree, long fileId) {
        return new ComponentHeader(
                core.manifest().state().storeId(), fileId, schema.id(), partition, tree.number());
    }
}
