package io.turbidite.lsm.partition;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.index.FieldKeys;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.OutsideFile;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.RegionState;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionMarker;
import io.turbidite.lsm.version.StoreFiles;

import org.jspecify.annotations.Nullable;

import java.util.SplittableRandom;

/** Makes and opens the regions of a store. Stateless. */
public final class RegionFiles {
    private RegionFiles() {}

    /**
     * Makes an empty region for a partition of an index.
     *
     * @throws InvalidRequestException if the store was not given the kind
     * @throws io.turbidite.core.StorageException if the kind can't make it
     */
    public static RegionHandle create(
            StoreCore core, DatasetSchema schema, int partition, IndexSchema index) {
        makeDirectory(core);
        IndexKind kind = kind(core, schema, index);
        RegionPlace place = place(core, schema, partition, index, newId(core));
        RegionMarker marker = marker(core, schema, partition, index, place);
        if (marker == null) {
            return handle(core, schema, partition, index, place, kind.create(place));
        }
        OutsideRegions.note(core, marker);
        try (Undo undo = Undo.of(() -> OutsideRegions.forgetIfGone(core, kind, marker))) {
            IndexRegion made = kind.create(place);
            undo.keep();
            return handle(core, schema, partition, index, place, made);
        }
    }

    /**
     * Makes the directory of regions and their markers, durably, if it is not there.
     *
     * @throws StorageIoException if a file has its name
     */
    static void makeDirectory(StoreCore core) {
        if (!core.disk().exists(StoreFiles.REGIONS)) {
            core.disk().createDirectories(StoreFiles.REGIONS);
            core.disk().syncDirectory("");
        } else if (core.disk().status(StoreFiles.REGIONS).kind() == FileStatus.Kind.FILE) {
            throw new StorageIoException(
                    StorageIoException.Kind.ALREADY_EXISTS,
                    "making the directory",
                    StoreFiles.REGIONS,
                    "a file has its name; move it out of %s"
                            .formatted(core.disk().description()),
                    null);
        }
    }

    /** What is to be noted of a region that lies outside of the store; null if it does not. */
    private static @Nullable RegionMarker marker(
            StoreCore core,
            DatasetSchema schema,
            int partition,
            IndexSchema index,
            RegionPlace place) {
        IndexKind kind = kind(core, schema, index);
        OutsideFile file = kind.outside(place);
        return file == null
                ? null
                : new RegionMarker(
                        place.regionId(),
                        kind.name(),
                        schema.name(),
                        partition,
                        index.name(),
                        core.disk().description(),
                        file);
    }

    /**
     * A number that no region has, of this store or of a copy of it: a region may lie where it
     * outlives its store, and its manifest's copies would count on from the same number.
     */
    private static long newId(StoreCore core) {
        long moment = core.clock().wallMicros() ^ core.clock().monotonicNanos();
        SplittableRandom random = new SplittableRandom(moment ^ core.manifest().newFileId());
        return Math.max(1, random.nextLong() >>> 1);
    }

    /**
     * Opens the region of a partition of an index.
     *
     * @param reading whether nothing may be changed
     * @return null if it is of a kind, or mode, that keeps nothing from one opening to the next
     * @throws io.turbidite.core.StorageException if it must be made anew
     */
    public static @Nullable RegionHandle open(
            StoreCore core,
            DatasetSchema schema,
            int partition,
            IndexSchema index,
            PartitionState state,
            boolean reading) {
        IndexKind kind = kind(core, schema, index);
        RegionState region = state.region(index.tree());
        if (region == null || region.absorbedThrough() < state.flushedTimestamp()) {
            throw CorruptionException.missing(
                    "the region of " + name(schema, partition, index),
                    "this store has not built it, or it was left behind");
        }
        RegionPlace place = place(core, schema, partition, index, region.regionId());
        IndexRegion opened = reading
                ? kind.openCopy(place, region.absorbedThrough())
                : kind.open(place, region.absorbedThrough());
        if (opened == null) {
            return null;
        }
        if (!reading) {
            RegionMarker marker = marker(core, schema, partition, index, place);
            if (marker != null) {
                OutsideRegions.noteIfNew(core, marker);
            }
        }
        return handle(core, schema, partition, index, place, opened);
    }

    private static RegionHandle handle(
            StoreCore core,
            DatasetSchema schema,
            int partition,
            IndexSchema index,
            RegionPlace place,
            IndexRegion region) {
        PartitionName owner = new PartitionName(schema.name(), partition);
        IndexKind kind = kind(core, schema, index);
        return new RegionHandle(
                place,
                region,
                () -> drop(core, kind, place),
                left -> core.events()
                        .regionLeft(owner, index.name(), String.valueOf(left.getMessage())));
    }

    /** Deletes the region that the manifest names for an index, if there is one. */
    public static void drop(
            StoreCore core,
            DatasetSchema schema,
            int partition,
            IndexSchema index,
            PartitionState state) {
        RegionState region = state.region(index.tree());
        if (region != null) {
            drop(
                    core,
                    kind(core, schema, index),
                    place(core, schema, partition, index, region.regionId()));
        }
    }

    private static void drop(StoreCore core, IndexKind kind, RegionPlace place) {
        kind.drop(place);
        OutsideRegions.forget(core, place.regionId());
    }

    /**
     * The kind of an index.
     *
     * @throws InvalidRequestException if the store was not given it
     */
    public static IndexKind kind(StoreCore core, DatasetSchema schema, IndexSchema index) {
        return core.kinds()
                .require(
                        "index %s of dataset %s".formatted(index.name(), schema.name()),
                        index.kind().label());
    }

    /**
     * Looks whether the place that an index names for its regions takes them still.
     *
     * @throws InvalidRequestException if it does not, naming it
     */
    public static void requirePlace(StoreCore core, DatasetSchema schema, IndexSchema index) {
        var _ = kind(core, schema, index)
                .define(
                        "dataset %s: index %s".formatted(schema.name(), index.name()),
                        index.entryKeys().parameters(),
                        FieldKeys.bytesMax(schema.primaryKey()));
    }

    private static String name(DatasetSchema schema, int partition, IndexSchema index) {
        return schema.name() + "/" + partition + "/" + index.name();
    }

    private static RegionPlace place(
            StoreCore core, DatasetSchema schema, int partition, IndexSchema index, long regionId) {
        return new RegionPlace(
                core.disk(),
                StoreFiles.REGIONS,
                core.manifest().state().storeId(),
                regionId,
                core.manifest().sessions(),
                name(schema, partition, index),
                index.entryKeys().parameters(),
                core.clock(),
                core.regions());
    }
}
