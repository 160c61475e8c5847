package io.turbidite.lsm.harness;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.OutsideFile;
import io.turbidite.core.index.OutsideFile.Removal;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.core.sim.HeapIndexKind;

import org.jspecify.annotations.Nullable;

import java.util.Map;

/**
 * A kind whose regions have files outside of the store: in another directory of the same simulated
 * disk, so that a power cut cuts both. A file is a header, which says whose it is.
 */
public record OutsideKind(HeapIndexKind kind, Disk disk) implements IndexKind {
    /** Where the files lie. */
    public static final String PLACE = "elsewhere";

    private static String file(long regionId) {
        return PLACE + "/" + RegionPlace.fileName(regionId);
    }

    @Override
    public String name() {
        return kind.name();
    }

    @Override
    public Map<String, String> define(
            String use, Map<String, String> parameters, int primaryKeyBytesMax) {
        return kind.define(use, parameters, primaryKeyBytesMax);
    }

    @Override
    public IndexRegion create(RegionPlace place) {
        try (DiskFile file = disk.create(file(place.regionId()))) {
            new FileHeader("region", 1, 0, place.storeId(), place.regionId()).writeTo(file);
            file.sync();
        } catch (RuntimeException failed) {
            drop(place);
            throw failed;
        }
        return kind.create(place);
    }

    @Override
    public @Nullable IndexRegion open(RegionPlace place, long absorbedThrough) {
        requireFile(place);
        return kind.open(place, absorbedThrough);
    }

    @Override
    public @Nullable IndexRegion openCopy(RegionPlace place, long absorbedThrough) {
        requireFile(place);
        return kind.openCopy(place, absorbedThrough);
    }

    private void requireFile(RegionPlace place) {
        if (!disk.exists(file(place.regionId()))) {
            throw CorruptionException.missing(file(place.regionId()), "the manifest names it");
        }
    }

    @Override
    public void drop(RegionPlace place) {
        kind.drop(place);
        if (disk.exists(file(place.regionId()))) {
            disk.delete(file(place.regionId()));
            disk.syncDirectory(PLACE);
        }
    }

    @Override
    public OutsideFile outside(RegionPlace place) {
        return new OutsideFile(file(place.regionId()), "");
    }

    @Override
    public Removal removeOutside(OutsideFile file, long storeId, long regionId) {
        if (!disk.exists(PLACE)) {
            return Removal.OUT_OF_REACH;
        }
        if (!disk.exists(file.path())) {
            return Removal.GONE;
        }
        if (disk.status(file.path()).kind() != FileStatus.Kind.FILE
                || !isOf(file, storeId, regionId)) {
            return Removal.ANOTHERS;
        }
        disk.delete(file.path());
        disk.syncDirectory(PLACE);
        return Removal.GONE;
    }

    /** One that a cut has left empty, or full of nothing, was begun. */
    private boolean isOf(OutsideFile file, long storeId, long regionId) {
        try (DiskFile opened = disk.openReadOnly(file.path())) {
            FileHeader found = FileHeader.readFrom(opened);
            return found.storeId() == storeId && found.fileId() == regionId;
        } catch (CorruptionException begun) {
            return true;
        }
    }
}
