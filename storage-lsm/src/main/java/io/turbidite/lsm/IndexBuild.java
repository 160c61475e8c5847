package io.turbidite.lsm;

import io.turbidite.core.StorageException;
import io.turbidite.lsm.engine.OnlineIndexBuild;

/**
 * An index that is being built in the background, while writers and readers go on. Before its end nothing durable
 * knows the index: a crash leaves files that the next opening puts into the trash.
 *
 * <p><em>Thread-safe.</em>
 */
public final class IndexBuild {
    private final OnlineIndexBuild build;

    IndexBuild(OnlineIndexBuild build) {
        this.build = build;
    }

    /** The index's name. */
    public String index() {
        return build.index();
    }

    /** Entries of the primary read so far. */
    public long entriesRead() {
        return build.entriesRead();
    }

    /** Entries of the primary to be read; 0 until they are counted, which waits for merges. */
    public long entriesTotal() {
        return build.entriesTotal();
    }

    /** Whether the build has come to its end, well or not. */
    public boolean isDone() {
        return build.isDone();
    }

    /**
     * Waits for the end.
     *
     * @throws StorageException what made it fail; nothing is left of a new index, and one that was to be enabled or
     *     rebuilt is disabled, which a suppressed exception says
     * @throws io.turbidite.core.InvalidRequestException also if it was stopped
     */
    public void await() {
        build.await();
    }

    /** Gives up; returns when nothing is left of the index, or it had been ready before. */
    public void stop() {
        build.stop();
    }

    @Override
    public String toString() {
        return build.toString();
    }
}
