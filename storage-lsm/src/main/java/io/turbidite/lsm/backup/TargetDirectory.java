package io.turbidite.lsm.backup;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.file.Disk;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.StoreFiles;

import java.util.List;

/**
 * A directory that is being filled and becomes a store at one moment.
 *
 * <ol>
 *   <li>{@link #prepare}: it says INCOMPLETE, durably, before anything else is in it.
 *   <li>Component files come in, each durable.
 *   <li>{@link #complete}: their names are made durable, then the manifest, then the mark goes. A
 *       crash in between leaves a store that still has the mark; opening it deletes the mark.
 *   <li>{@link #abandon} after a failure: everything goes, the mark last.
 * </ol>
 *
 * <em>Confined to one thread.</em>
 */
public final class TargetDirectory {
    private final Disk disk;

    /** Writes into the directory of that disk. */
    public TargetDirectory(Disk disk) {
        this.disk = disk;
    }

    Disk disk() {
        return disk;
    }

    /**
     * Takes an empty directory.
     *
     * @throws InvalidRequestException if there is something in it; nothing is changed
     */
    public void prepare() {
        for (String name : disk.list("")) {
            throw new InvalidRequestException(
                    name.equals(StoreFiles.INCOMPLETE)
                            ? "%s holds what was interrupted before it was a store; delete the directory first"
                                    .formatted(disk.description())
                            : "%s is not empty: there is '%s'; give a new directory"
                                    .formatted(disk.description(), name));
        }
        disk.create(StoreFiles.INCOMPLETE).close();
        disk.syncDirectory("");
        disk.createDirectories(StoreFiles.DATA);
        disk.createDirectories(StoreFiles.LOG);
        disk.syncDirectory("");
    }

    /** Writes the manifest, which makes the directory a store that was never opened. */
    public void complete(ManifestState state) {
        disk.syncDirectory(StoreFiles.DATA);
        if (!disk.exists(StoreFiles.UNOPENED)) { // else a shipment was cut off right here
            disk.create(StoreFiles.UNOPENED).close();
        }
        Manifest.write(disk, state);
        if (disk.exists(StoreFiles.SHIPMENT)) {
            disk.delete(StoreFiles.SHIPMENT);
        }
        disk.delete(StoreFiles.INCOMPLETE);
        disk.syncDirectory("");
    }

    /** Leaves the directory empty if it can; if not, it still says that it is incomplete. */
    public void abandon() {
        try {
            if (disk.exists(StoreFiles.MANIFEST)) {
                return; // whole already: only the mark could not be taken away
            }
            for (String name : disk.list(StoreFiles.DATA)) {
                disk.delete(StoreFiles.DATA + "/" + name);
            }
            disk.delete(StoreFiles.DATA);
            disk.delete(StoreFiles.LOG);
            for (String name : List.of(
                    StoreFiles.UNOPENED,
                    StoreFiles.MANIFEST_DRAFT,
                    StoreFiles.SHIPMENT_DRAFT,
                    StoreFiles.SHIPMENT)) {
                if (disk.exists(name)) {
                    disk.delete(name);
                }
            }
            disk.delete(StoreFiles.INCOMPLETE);
        } catch (StorageException left) {
            // the first failure is the caller's; the mark says the rest
        }
    }
}
