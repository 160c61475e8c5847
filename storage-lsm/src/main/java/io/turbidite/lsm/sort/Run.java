package io.turbidite.lsm.sort;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.lsm.version.StoreFiles;

/**
 * A run file that was written to its end. Immutable.
 *
 * @param fileId names the file
 * @param entryCount entries in it
 * @param blockCount blocks in it
 * @param bytes of the file
 */
record Run(long fileId, long entryCount, int blockCount, long bytes) {
    String name() {
        return StoreFiles.sortRun(fileId);
    }

    void delete(Disk disk) {
        delete(disk, name());
    }

    static void delete(Disk disk, String name) {
        try {
            disk.delete(name);
        } catch (StorageIoException left) {
            // nobody will read it, and it goes when the store opens next
        }
    }
}
