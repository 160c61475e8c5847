package io.turbidite.feeds.command.query;

import io.turbidite.core.file.Disk;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.version.StoreFiles;

/**
 * A store's directory for what does not fit into memory, while a command runs: one that the command
 * has made goes with it. <em>Confined to one thread.</em>
 */
final class SpillDirectory implements AutoCloseable {
    private final Disk disk;
    private final boolean isKept;

    private SpillDirectory(Disk disk, boolean isKept) {
        this.disk = disk;
        this.isKept = isKept;
    }

    /**
     * As it is before the command.
     *
     * @param isShared whether others use the store meanwhile
     */
    static SpillDirectory of(Store store, boolean isShared) {
        Disk disk = store.environment().disk();
        return new SpillDirectory(disk, isShared || disk.exists(StoreFiles.SPILL));
    }

    @Override
    public void close() {
        if (!isKept
                && disk.exists(StoreFiles.SPILL)
                && disk.list(StoreFiles.SPILL).isEmpty()) {
            disk.delete(StoreFiles.SPILL);
        }
    }
}
