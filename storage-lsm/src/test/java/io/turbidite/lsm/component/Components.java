package io.turbidite.lsm.component;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.cache.CacheOptions;
import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;

import java.util.ArrayList;
import java.util.List;

/** Writes and opens components for tests. */
final class Components {
    static final ComponentHeader HEADER = new ComponentHeader(0x5EED_0001L, 17, 2, 1, 3);
    static final String NAME = "c-17";

    private Components() {}

    static BufferCache cache(long bytes) {
        SimClock clock = new SimClock();
        return BufferCache.create(
                MemoryBudget.of(2 * bytes + (8 << 20))
                        .account("cache"), // room to read ahead as well
                CacheOptions.of(bytes),
                new SimTasks(1, clock),
                clock,
                new Meters());
    }

    static void write(Disk disk, ComponentOptions options, Entries entries) {
        write(disk, options, entries, filter());
    }

    static void write(
            Disk disk, ComponentOptions options, Entries entries, ComponentFilter filter) {
        try (ComponentWriter writer =
                ComponentWriter.create(disk, NAME, HEADER, options, entries.size())) {
            for (Entries.Entry entry : entries.sorted) {
                writer.add(
                        entry.keySlice(),
                        entry.timestamp(),
                        entry.antimatter(),
                        Slice.of(entry.value()));
            }
            writer.finish(entries.id(), filter, 1_000, 2_000);
        }
    }

    static ComponentFilter filter() {
        return ComponentFilter.builder(2)
                .add(0, Slice.of(new byte[] {1, 2}))
                .add(0, Slice.of(new byte[] {7}))
                .addAbsent(1)
                .build();
    }

    static DiskComponent open(Disk disk, BufferCache cache) {
        return DiskComponent.open(disk, NAME, HEADER, cache);
    }

    static List<String> verify(DiskComponent component) {
        List<String> findings = new ArrayList<>();
        component.verify(finding -> findings.add(String.valueOf(finding.getMessage())));
        return findings;
    }
}
