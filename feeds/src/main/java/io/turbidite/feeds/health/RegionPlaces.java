package io.turbidite.feeds.health;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.index.OutsideFile;
import io.turbidite.feeds.health.Finding.Unit;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.version.RegionMarker;
import io.turbidite.lsm.version.StoreFiles;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Whether files of regions outside of a store can be reached: where one can't, it stays behind when
 * its index is dropped. Told by their markers. Static, without state.
 */
public final class RegionPlaces {
    private RegionPlaces() {}

    /** A finding for each directory that is not there, or is another one, and each bad marker. */
    public static List<Finding> of(Store store) {
        Disk disk = store.environment().disk();
        if (!disk.exists(StoreFiles.REGIONS)) {
            return List.of();
        }
        List<Finding> findings = new ArrayList<>();
        Map<String, List<String>> lost = new TreeMap<>();
        for (String name : disk.list(StoreFiles.REGIONS)) {
            long regionId = StoreFiles.markedRegion(name);
            if (regionId >= 0) {
                try {
                    note(RegionMarker.readToTell(disk, regionId), lost);
                } catch (CorruptionException | FormatVersionException unread) {
                    findings.add(
                            finding(
                                    "the marker of a region's file outside of the store can't be read: "
                                            + unread.getMessage(),
                                    "if its index is dropped, the file stays: look for it in the path of the index"));
                }
            }
        }
        lost.forEach(
                (directory, files) -> findings.add(
                        finding(
                                "%s is not there, or is another directory, and has %s"
                                        .formatted(directory, String.join(", ", files)),
                                "is a file system not mounted? While it is not, a file whose index is dropped stays behind")));
        return findings;
    }

    private static void note(RegionMarker marker, Map<String, List<String>> lost) {
        OutsideFile file = marker.file();
        Path directory = Path.of(file.path()).getParent();
        if (directory != null && !isThere(directory, file.place())) {
            lost.computeIfAbsent(directory.toString(), made -> new ArrayList<>())
                    .add("%s of index %s of %s"
                            .formatted(
                                    Path.of(file.path()).getFileName(),
                                    marker.index(),
                                    marker.dataset()));
        }
    }

    /** Where a file system is not mounted there is often an empty directory of the same name. */
    private static boolean isThere(Path directory, String place) {
        return RealDisk.isDirectory(directory)
                && (place.isEmpty() || place.equals(RealDisk.open(directory).inode()));
    }

    private static Finding finding(String what, String advice) {
        return new Finding("warn", what, null, Unit.COUNT, 0, advice);
    }
}
