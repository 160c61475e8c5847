package io.turbidite.lsm.partition;

import io.turbidite.lsm.schedule.WriteShares;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.DatasetState;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the partitions of a store sum up: the memory that their unflushed layers hold, the versions
 * that were installed, what was done with each dataset.
 *
 * <p><em>Thread-safe.</em>
 */
public final class StoreAccount {
    private final WriteShares.Share unflushed;
    private final AtomicLong installCount = new AtomicLong();
    private final AtomicInteger nextOrder = new AtomicInteger();

    /** By dataset id. */
    private final Map<Integer, WorkMeter> works = new ConcurrentHashMap<>();

    StoreAccount(WriteShares.Share unflushed) {
        this.unflushed = unflushed;
    }

    int newOrder() {
        return nextOrder.getAndIncrement();
    }

    /** Counts what is done with a dataset, from what the manifest has of it on. */
    WorkMeter work(int datasetId, ManifestState state) {
        return works.computeIfAbsent(datasetId, id -> {
            DatasetState dataset = state.find(id);
            return new WorkMeter(dataset == null ? DatasetCounts.NONE : dataset.counts());
        });
    }

    /** A dataset is dropped. */
    void forget(int datasetId) {
        works.remove(datasetId);
    }

    /** Memory of all layers that are not on disk yet, in steps of 64 KiB. */
    public long unflushedBytes() {
        return unflushed.unflushedBytes();
    }

    void addUnflushed(long bytes) {
        unflushed.add(bytes);
    }

    /** The store's part of the write memory, beside those of the stores that share it. */
    public WriteShares.Share share() {
        return unflushed;
    }

    /** How many versions were installed: whoever has seen the count has seen them all. */
    public long installCount() {
        return installCount.get();
    }

    void countInstall() {
        installCount.incrementAndGet();
    }
}
