package io.turbidite.hashlog.log;

import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

/**
 * Where a log lives and what it runs on. <em>Immutable.</em>
 *
 * @param name for events and errors
 * @param disk null for the null device: what leaves memory is gone
 * @param directory of segments and marks on {@code disk}; created if missing
 */
public record LogSite(
        String name,
        @Nullable Disk disk,
        String directory,
        Tasks tasks,
        Clock clock,
        MemoryBudget budget,
        Meters meters,
        StoreEvents events) {

    /** Where it lives, for people: {@link #directory} alone says it within the disk. */
    public String where() {
        return disk == null ? name : disk.description() + "/" + directory;
    }

    /** The same with an inner directory. */
    public LogSite in(String inner) {
        return new LogSite(
                name, disk, directory + "/" + inner, tasks, clock, budget, meters, events);
    }
}
