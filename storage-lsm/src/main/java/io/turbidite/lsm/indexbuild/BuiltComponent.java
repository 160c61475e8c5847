package io.turbidite.lsm.indexbuild;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.partition.ComponentBuild;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/**
 * A component of an index that is made after one of the primary: entries come in any order, are
 * sorted in a memory component, and spilled as sorted runs when told to.
 *
 * <p><em>Confined to one thread at a time.</em> Runs are component files that no manifest ever
 * names.
 */
final class BuiltComponent {
    private static final Slice NOTHING = new Slice();

    /** Entries between two looks at whether to stop. */
    private static final int CHECK_INTERVAL = 4_096;

    private final Partition partition;
    private final StoreCore core;
    private final DatasetSchema schema;
    private final TreeId tree;
    private final ComponentHandle source;
    private final List<ComponentHandle> runs = new ArrayList<>();
    private @Nullable MemoryComponent memory;
    private @Nullable ComponentHandle built;

    BuiltComponent(Partition partition, DatasetSchema schema, TreeId tree, ComponentHandle source) {
        this.partition = partition;
        this.core = partition.core();
        this.schema = schema;
        this.tree = tree;
        this.source = source;
    }

    boolean covers(long timestamp) {
        return source.state().minTimestamp() <= timestamp
                && timestamp <= source.state().maxTimestamp();
    }

    void put(Slice key, long timestamp, boolean antimatter) {
        MemoryComponent target = memory;
        if (target == null) {
            target = MemoryComponent.create(core.chunks());
            memory = target;
        }
        target.put(key, timestamp, antimatter, NOTHING);
    }

    long memoryBytes() {
        return memory == null ? 0 : memory.bytesUsed();
    }

    /** Writes what is in memory as a sorted run. */
    void spill() {
        MemoryComponent full = Objects.requireNonNull(memory);
        runs.add(write(full.cursor(), full.entryCount(), () -> false));
        full.close();
        memory = null;
    }

    void complete(BooleanSupplier stop) {
        List<EntryCursor> sorted = new ArrayList<>();
        long entries = 0;
        for (ComponentHandle run : runs) {
            sorted.add(run.component().streamCursor());
            entries += run.component().entryCount();
        }
        if (memory != null) {
            sorted.add(memory.cursor());
            entries += memory.entryCount();
        }
        built = write(MergeCursor.of(sorted), entries, stop);
        dropScratch();
    }

    private ComponentHandle write(EntryCursor sorted, long entryCount, BooleanSupplier stop) {
        DiskComponent primary = source.component();
        try (ComponentBuild build = ComponentBuild.of(partition, schema, tree)) {
            try (EntryCursor entries = sorted) {
                ComponentWriter writer = build.create(entryCount);
                int untilCheck = CHECK_INTERVAL;
                while (entries.next()) {
                    writer.add(entries.key(), entries.timestamp(), entries.isAntimatter(), NOTHING);
                    if (--untilCheck == 0) {
                        untilCheck = CHECK_INTERVAL;
                        if (stop.getAsBoolean()) {
                            throw new StoppedException();
                        }
                    }
                }
            }
            build.writer().noteVersions(primary.matterCount());
            build.finish(
                    new ComponentId(
                            source.state().minTimestamp(), source.state().maxTimestamp()),
                    primary.filter(),
                    primary.minWallMicros(),
                    primary.maxWallMicros());
            return build.open(source.state().generation());
        }
    }

    ComponentHandle built() {
        return Objects.requireNonNull(built);
    }

    private void dropScratch() {
        ComponentFiles.letGo(runs, false);
        runs.clear();
        if (memory != null) {
            memory.close();
            memory = null;
        }
    }

    void close(boolean installed) {
        dropScratch();
        if (built != null) {
            ComponentFiles.letGo(List.of(built), installed);
            built = null;
        }
    }
}
