package io.turbidite.lsm.partition;

import io.turbidite.core.StorageException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.task.Tasks;

/**
 * Looks at the store's directory twice a second. A lock file that somebody has deleted or replaced
 * keeps nobody out any more, so the store takes no writes from then on. The trash is emptied when
 * the store has been open for a day, and, but for what this opening put there, before space on disk
 * gets short. That a fresh store's log holds records is noted.
 *
 * <p>A worker of its own: a flush may take seconds.
 */
public final class DirectoryWatch implements AutoCloseable {
    private static final long IDLE_MICROS = 500_000;

    private final StoreCore core;
    private final long shortBytes;
    private final Tasks.Worker worker;

    /**
     * @param shortBytes less space than that on disk is short
     */
    public DirectoryWatch(StoreCore core, long shortBytes) {
        this.core = core;
        this.shortBytes = shortBytes;
        this.worker = core.start("watch", IDLE_MICROS, this::step);
    }

    private boolean step() {
        if (core.health().firstFailure() == null && !core.health().isClosing()) {
            lookAtLock();
            lookAtLog();
            lookAtTrash();
        }
        return false;
    }

    private void lookAtLock() {
        try {
            core.checkLock();
        } catch (StoreFailedException gone) {
            core.events().failed("the store takes no writes any more", gone);
        } catch (StorageException failure) {
            core.events().failed("the lock file could not be looked at", failure);
        }
    }

    private void lookAtLog() {
        try {
            core.noteLog();
        } catch (StorageException failure) {
            core.events().failed("that there is a log could not be noted", failure);
        }
    }

    private void lookAtTrash() {
        if (core.trash().items().isEmpty()) {
            return;
        }
        try {
            if (core.trash().isOld()) {
                core.emptyTrash("age");
            } else if (core.disk().usableBytes() < shortBytes) {
                core.emptyTrash("space");
            }
        } catch (StorageException failure) {
            core.events().failed("the trash could not be emptied", failure);
        }
    }

    /**
     * The disk is full: before anything waits or is refused, the trash goes, but for what this
     * opening put there.
     */
    public static void makeRoom(StoreCore core) {
        try {
            core.emptyTrash("space");
        } catch (StorageException failure) {
            core.events().failed("the trash could not be emptied", failure);
        }
    }

    @Override
    public void close() {
        worker.close();
    }
}
