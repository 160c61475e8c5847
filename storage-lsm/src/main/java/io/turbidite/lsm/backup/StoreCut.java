package io.turbidite.lsm.backup;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A store as it was at one timestamp, over all datasets and partitions. <em>Confined to one
 * thread.</em>
 */
public final class StoreCut implements AutoCloseable {
    private final StoreCore core;
    private final ManifestState state;
    private final List<PartitionCut> partitions;
    private final long wallMicros;

    private StoreCut(StoreCore core, ManifestState state, List<PartitionCut> partitions) {
        this.core = core;
        this.state = state;
        this.partitions = partitions;
        this.wallMicros = core.clock().wallMicros();
    }

    /**
     * Cuts a store now. What is in the cut is made durable in the store too, so that no copy knows
     * more than the store does after a crash.
     *
     * @throws io.turbidite.core.StoreFailedException if the store takes no writes
     */
    public static StoreCut take(PartitionRegistry partitions) {
        StoreCore core = partitions.core();
        if (!core.health().isReading()) {
            core.health().checkWritable();
        }
        StoreCut cut = core.manifest()
                .atRest(state ->
                        new StoreCut(core, state, PartitionCut.ofAll(core, partitions.all())));
        try (Undo undo = Undo.of(cut::close)) {
            core.log().flush();
            return undo.keep(cut);
        }
    }

    long timestamp() {
        return partitions.isEmpty()
                ? state.lastTimestamp()
                : partitions.getFirst().timestamp();
    }

    /** When it was made, in microseconds since 1970. */
    public long wallMicros() {
        return wallMicros;
    }

    /** The files of the disk components, held until {@link #close}. */
    Set<Long> fileIds() {
        Set<Long> all = new HashSet<>();
        for (PartitionCut partition : partitions) {
            for (ComponentHandle handle : partition.components()) {
                all.add(handle.state().fileId());
                if (handle.invalidEntries() != null) {
                    all.add(handle.state().bitmapFileId());
                }
            }
        }
        return all;
    }

    /**
     * Writes what was in memory as components of another disk, and lets the memory go.
     *
     * @return the manifest of a store that consists of them and of {@link #fileIds}, without a log
     */
    public ManifestState writeMemory(Disk target) {
        ManifestState image = state;
        for (PartitionCut partition : partitions) {
            image = image.withPartition(
                    partition.schema().id(), partition.number(), partition.writeMemory(target));
        }
        return image.withoutLog(timestamp()).withNextFileId(core.manifest().newFileId());
    }

    /**
     * The files that {@link #writeMemory} wrote, those of files that it could not finish included.
     */
    public List<String> written() {
        return partitions.stream()
                .flatMap(partition -> partition.written().stream())
                .toList();
    }

    @Override
    public void close() {
        new Cleanup().addAll(partitions, PartitionCut::close).run();
    }
}
