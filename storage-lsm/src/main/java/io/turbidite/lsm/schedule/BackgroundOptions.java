package io.turbidite.lsm.schedule;

import io.turbidite.core.InvalidRequestException;

/**
 * How a store does its background work. <em>Immutable.</em>
 *
 * @param mergeWorkers threads that merge, 1 to 32. Raise it when merges fall behind and processors
 *     are idle
 * @param mergeScheduler how merges share the workers and the I/O budget: {@code greedy} has the one
 *     with the least left to do go first, {@code fair} gives each the same share. Change it to
 *     {@code fair} when a large merge must not wait for many small ones
 * @param ioBytesPerSecond the most that flushes and merges together may write a second, at least 64
 *     KiB; 0 for no limit. Set it when reads, or others on the device, suffer from merges
 * @param syncBytes a flush or merge syncs each time it has written this much, and oftener while
 *     commits wait for the device ({@link MergePace}). So the operating system never holds more
 *     than this to write behind the log's back. At least 1 MiB, or 0 to sync only at the end. Raise
 *     it where nothing waits for commits, for example while loading
 * @param backlogComponentsMax writers stop when an index has this many components more than its
 *     merge policy tolerates, and slow down from a quarter of it; at least 4. Raise it when bursts
 *     of writes must not be slowed; lower it when reads after a burst are too slow
 */
public record BackgroundOptions(
        int mergeWorkers,
        MergeScheduler mergeScheduler,
        long ioBytesPerSecond,
        long syncBytes,
        int backlogComponentsMax) {
    /** The most threads that merge. */
    public static final int MERGE_WORKERS_MAX = 32;

    private static final long IO_BYTES_MIN = 64 << 10;
    private static final long SYNC_BYTES_MIN = 1 << 20;

    public BackgroundOptions {
        require(
                mergeWorkers >= 1 && mergeWorkers <= MERGE_WORKERS_MAX,
                "mergeWorkers",
                mergeWorkers,
                "1 to " + MERGE_WORKERS_MAX);
        require(
                ioBytesPerSecond == 0 || ioBytesPerSecond >= IO_BYTES_MIN,
                "ioBytesPerSecond",
                ioBytesPerSecond,
                "at least 64 KiB, or 0 for no limit");
        require(
                syncBytes == 0 || syncBytes >= SYNC_BYTES_MIN,
                "syncBytes",
                syncBytes,
                "at least 1 MiB, or 0 to sync at the end only");
        require(
                backlogComponentsMax >= 4,
                "backlogComponentsMax",
                backlogComponentsMax,
                "at least 4");
    }

    /** Two workers, greedy, no limit, a sync every 4 MiB, stop at 32 components behind. */
    public static BackgroundOptions defaults() {
        return new BackgroundOptions(2, MergeScheduler.GREEDY, 0, 4 << 20, 32);
    }

    /** Begins with the {@link #defaults defaults}. */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /** Begins with these options. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** The same with another {@link #mergeWorkers}. */
    public BackgroundOptions withMergeWorkers(int workers) {
        return toBuilder().mergeWorkers(workers).build();
    }

    /** The same with another {@link #mergeScheduler}. */
    public BackgroundOptions withMergeScheduler(MergeScheduler scheduler) {
        return toBuilder().mergeScheduler(scheduler).build();
    }

    /** The same with another {@link #ioBytesPerSecond}. */
    public BackgroundOptions withIoBytesPerSecond(long bytes) {
        return toBuilder().ioBytesPerSecond(bytes).build();
    }

    /** The same with another {@link #syncBytes}. */
    public BackgroundOptions withSyncBytes(long bytes) {
        return toBuilder().syncBytes(bytes).build();
    }

    /** The same with another {@link #backlogComponentsMax}. */
    public BackgroundOptions withBacklogComponentsMax(int components) {
        return toBuilder().backlogComponentsMax(components).build();
    }

    private static void require(boolean holds, String name, long value, String rule) {
        if (!holds) {
            throw new InvalidRequestException(
                    "%s is %d but must be %s".formatted(name, value, rule));
        }
    }

    /**
     * Options under change; they are checked together when they are built. <em>Confined to one
     * thread.</em>
     */
    public static final class Builder {
        private int mergeWorkers;
        private MergeScheduler mergeScheduler;
        private long ioBytesPerSecond;
        private long syncBytes;
        private int backlogComponentsMax;

        private Builder(BackgroundOptions from) {
            this.mergeWorkers = from.mergeWorkers;
            this.mergeScheduler = from.mergeScheduler;
            this.ioBytesPerSecond = from.ioBytesPerSecond;
            this.syncBytes = from.syncBytes;
            this.backlogComponentsMax = from.backlogComponentsMax;
        }

        /** Sets the option {@link BackgroundOptions#mergeWorkers}. */
        public Builder mergeWorkers(int value) {
            mergeWorkers = value;
            return this;
        }

        /** Sets the option {@link BackgroundOptions#mergeScheduler}. */
        public Builder mergeScheduler(MergeScheduler value) {
            mergeScheduler = value;
            return this;
        }

        /** Sets the option {@link BackgroundOptions#ioBytesPerSecond}. */
        public Builder ioBytesPerSecond(long value) {
            ioBytesPerSecond = value;
            return this;
        }

        /** Sets the option {@link BackgroundOptions#syncBytes}. */
        public Builder syncBytes(long value) {
            syncBytes = value;
            return this;
        }

        /** Sets the option {@link BackgroundOptions#backlogComponentsMax}. */
        public Builder backlogComponentsMax(int value) {
            backlogComponentsMax = value;
            return this;
        }

        /**
         * Checks the options together.
         *
         * @throws InvalidRequestException if one is out of its range, naming it
         */
        public BackgroundOptions build() {
            return new BackgroundOptions(
                    mergeWorkers,
                    mergeScheduler,
                    ioBytesPerSecond,
                    syncBytes,
                    backlogComponentsMax);
        }
    }
}
