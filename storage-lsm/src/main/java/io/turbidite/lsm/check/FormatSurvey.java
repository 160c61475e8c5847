package io.turbidite.lsm.check;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.format.KnownFormat;
import io.turbidite.core.log.WriteAheadLog;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.StoreFiles;

import java.util.ArrayList;
import java.util.List;

/**
 * Which formats the files of a store are of, told by their headers. Takes no lock and changes
 * nothing: the store may be open meanwhile, and then files that are gone by now are left out.
 * Static, without state.
 */
public final class FormatSurvey {
    private FormatSurvey() {}

    /** The formats that a store is written in. */
    public static List<KnownFormat> known() {
        return List.of(
                Manifest.FORMAT,
                DiskComponent.FORMAT,
                ImmutableValidityBitmap.FORMAT,
                WriteAheadLog.FORMAT);
    }

    /**
     * The files that the manifest names, and the segments of the log. Of a manifest that this
     * release can't read, nothing but the manifest itself. A segment without a right header is
     * passed over.
     *
     * @throws io.turbidite.core.CorruptionException naming the file whose header is damaged
     */
    public static List<StoredFormat> of(Disk disk) {
        List<StoredFormat> found = ofHeld(disk);
        if (found.isEmpty() || !found.getFirst().isReadable()) {
            return found;
        }
        for (String name : disk.list(StoreFiles.LOG)) {
            try {
                add(disk, StoreFiles.LOG + "/" + name, WriteAheadLog.FORMAT, found);
            } catch (CorruptionException noHeader) {
                // a reserve that nobody has written to, or damage for the verifier to tell
            }
        }
        return found;
    }

    /**
     * As {@link #of}, of a store that this process has open: without the log, whose segments are
     * locked. They are of the one version that there is.
     */
    public static List<StoredFormat> ofHeld(Disk disk) {
        List<StoredFormat> found = new ArrayList<>();
        add(disk, StoreFiles.MANIFEST, Manifest.FORMAT, found);
        if (found.isEmpty() || !found.getFirst().isReadable()) {
            return found;
        }
        ManifestState state = Manifest.open(disk).state();
        state.datasets().stream()
                .flatMap(dataset -> dataset.partitions().stream())
                .flatMap(partition -> partition.trees().stream())
                .flatMap(tree -> tree.components().stream())
                .forEach(component -> add(disk, component, found));
        return found;
    }

    private static void add(Disk disk, ComponentState component, List<StoredFormat> found) {
        add(disk, StoreFiles.component(component.fileId()), DiskComponent.FORMAT, found);
        if (component.bitmapFileId() > 0) {
            String bitmap = StoreFiles.bitmap(component.bitmapFileId());
            add(disk, bitmap, ImmutableValidityBitmap.FORMAT, found);
        }
    }

    private static void add(Disk disk, String name, KnownFormat known, List<StoredFormat> found) {
        try (DiskFile file = disk.openReadOnly(name)) {
            FileHeader header = FileHeader.readFrom(file).checkFormat(name, known.name());
            found.add(new StoredFormat(
                    name,
                    header.format(),
                    header.version(),
                    known.oldest(),
                    known.newest(),
                    file.size()));
        } catch (StorageIoException gone) {
            if (gone.kind() != StorageIoException.Kind.NOT_FOUND) {
                throw gone;
            }
        }
    }
}
