package io.turbidite.lsm.partition;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.OutsideFile;
import io.turbidite.lsm.version.RegionMarker;
import io.turbidite.lsm.version.StoreFiles;

import java.util.List;
import java.util.Set;

/**
 * Files of regions outside of the store, where nobody else tidies up. Each has a marker in the
 * store's directory of regions:
 *
 * <ol>
 *   <li>The marker is durable before the file is made, so no crash leaves a file that nobody knows.
 *   <li>It goes after the file is gone, durably. What a crash or a failure leaves in between, an
 *       opening ends: a marker of a region that the manifest does not name has its file deleted.
 *   <li>A marker says which directory its store had. A copy of the store has the marker too, and
 *       leaves the file to the store that it is of. Nothing tells a store that was moved from a
 *       copy: its files stay as well.
 *   <li>What can't be read, or is not that region's, is never deleted; and no marker stops an
 *       opening.
 * </ol>
 *
 * <p>Stateless.
 */
public final class OutsideRegions {
    private OutsideRegions() {}

    /**
     * Notes a file that is about to be made; durable when it returns.
     *
     * @throws StorageException if it can't be noted: then the region must not be made
     */
    static void note(StoreCore core, RegionMarker marker) {
        marker.write(core.disk(), storeId(core));
    }

    /**
     * As {@link #note}, of a region that is there already: its marker is gone, or was never
     * written, or its directory has another number since the machine was started anew. It is as
     * good as before if that fails.
     */
    static void noteIfNew(StoreCore core, RegionMarker marker) {
        try {
            boolean isThere = core.disk().exists(StoreFiles.regionMarker(marker.regionId()));
            if (!isThere || hasMoved(core, marker)) {
                RegionFiles.makeDirectory(core);
                note(core, marker);
            }
        } catch (CorruptionException | FormatVersionException | StorageIoException failed) {
            core.events().failed("noting the file " + marker.file().path(), failed);
        }
    }

    private static boolean hasMoved(StoreCore core, RegionMarker marker) {
        RegionMarker kept = RegionMarker.read(core.disk(), storeId(core), marker.regionId());
        return isOwn(core, kept) && !kept.file().equals(marker.file());
    }

    /**
     * Forgets the file of a region that was dropped, durably, if it is gone for sure: its directory
     * may be an empty one, where its file system is not mounted. Nothing happens if the region has
     * no marker, or one that speaks of another store.
     */
    static void forget(StoreCore core, long regionId) {
        if (core.disk().exists(StoreFiles.regionMarker(regionId))) {
            RegionMarker marker = RegionMarker.read(core.disk(), storeId(core), regionId);
            if (isOwn(core, marker)) {
                tidy(core, marker);
            }
        }
    }

    /** As {@link #forget}, of a region that could not be made, if nothing is left of it. */
    static void forgetIfGone(StoreCore core, IndexKind kind, RegionMarker marker) {
        OutsideFile.Removal removal =
                kind.removeOutside(marker.file(), storeId(core), marker.regionId());
        if (removal == OutsideFile.Removal.GONE) {
            delete(core.disk(), marker.regionId());
        }
    }

    /**
     * Deletes what earlier processes left, and the markers of what is gone.
     *
     * @param names in the directory of regions
     * @param named regions of the manifest: their files are in use, or will be built anew
     */
    public static void tidy(StoreCore core, List<String> names, Set<Long> named) {
        for (String name : names) {
            long regionId = StoreFiles.markedRegion(name);
            try {
                if (StoreFiles.isMarkerDraft(name)) {
                    core.disk().delete(StoreFiles.REGIONS + "/" + name);
                } else if (regionId >= 0 && !named.contains(regionId)) {
                    tidy(core, RegionMarker.read(core.disk(), storeId(core), regionId));
                }
            } catch (CorruptionException | FormatVersionException | StorageIoException left) {
                core.events()
                        .failed(
                                "the marker %s/%s, of a region's file outside of the store, which stays"
                                        .formatted(StoreFiles.REGIONS, name),
                                left);
            }
        }
    }

    private static void tidy(StoreCore core, RegionMarker marker) {
        OutsideFile file = marker.file();
        if (!isOwn(core, marker)) {
            leave(
                    core,
                    marker,
                    "it was made for the store in %s, of which this one is a copy, or which was moved here: it is yours to delete when no store is there"
                            .formatted(marker.store()));
            delete(core.disk(), marker.regionId());
            return;
        }
        IndexKind kind = core.kinds().find(marker.kind());
        if (kind == null) {
            leave(core, marker, "this store was not given the kind " + marker.kind());
            return;
        }
        try {
            switch (kind.removeOutside(file, storeId(core), marker.regionId())) {
                case GONE -> delete(core.disk(), marker.regionId());
                case ANOTHERS ->
                    leave(
                            core,
                            marker,
                            "what has its name is not that region, or is damaged: it is yours to delete, and so is %s then"
                                    .formatted(StoreFiles.regionMarker(marker.regionId())));
                case OUT_OF_REACH ->
                    leave(
                            core,
                            marker,
                            "its directory is not there, or is another one: is a file system not mounted? The next opening looks again; if it is gone for good, delete %s"
                                    .formatted(StoreFiles.regionMarker(marker.regionId())));
            }
        } catch (StorageIoException | InvalidRequestException refused) {
            leave(core, marker, String.valueOf(refused.getMessage()));
        }
    }

    private static void leave(StoreCore core, RegionMarker marker, String why) {
        core.events()
                .regionLeft(
                        new PartitionName(marker.dataset(), marker.partition()),
                        marker.index(),
                        "%s is not deleted: %s".formatted(marker.file().path(), why));
    }

    private static boolean isOwn(StoreCore core, RegionMarker marker) {
        return marker.store().equals(core.disk().description());
    }

    private static void delete(Disk disk, long regionId) {
        disk.delete(StoreFiles.regionMarker(regionId));
        disk.syncDirectory(StoreFiles.REGIONS);
    }

    private static long storeId(StoreCore core) {
        return core.manifest().state().storeId();
    }
}
