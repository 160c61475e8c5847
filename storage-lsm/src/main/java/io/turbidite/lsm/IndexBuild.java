package io.turbidite.lsm;

import io.turbidite.core.StorageException;
import io.turbidite.lsm.engine.OnlineIndexBuild;

/**
 * A running build of an index in the background, while writers and readers go on. Until it ends
 * nothing durable knows the index: a crash leaves files that the next opening puts into the trash.
 *
 * <em>Thread-safe.</em>
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

    /** The number of primary entries read so far. */
    public long entriesRead() {
        return build.entriesRead();
    }

    /** The number of primary entries to read; 0 until they are counted, which waits for merges. */
    public long entriesTotal() {
        return build.entriesTotal();
    }

    /** Whether the build has ended, well or not. */
    public boolean isDone() {
        return build.isDone();
    }

    /**
     * Waits for the end.
     *
     * @throws StorageException the cause of a failure. Nothing is left of a new index; an index
     *     that was to be enabled or rebuilt is disabled, and a suppressed exception says so
     * @throws io.turbidite.core.InvalidRequestException also if the build was stopped
     */
    public void await() {
        build.await();
    }

    /**
     * Gives up the build. Returns when nothing is left of the index, or when it was ready before.
     */
    public void stop() {
        build.stop();
    }

    @Override
    public String toString() {
        return build.toString();
    }
}
