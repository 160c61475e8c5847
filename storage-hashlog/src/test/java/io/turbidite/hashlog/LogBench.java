package io.turbidite.hashlog;

import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A small log with what it needs around it, on threads or simulated. */
public final class LogBench implements AutoCloseable {
    public static final long LOG_ID = 0x1234_5678_9ABC_DEF0L;
    public static final LogShape SHAPE = new LogShape(16 << 10, 8, 4);

    public final MemoryBudget budget = MemoryBudget.of(640 << 20);
    public final Meters meters = new Meters();
    public final StoreEvents events = new StoreEvents();
    public final Tasks tasks;
    public final LogSite site;
    public final HashLog log;

    private LogBench(
            @Nullable Disk disk,
            Tasks tasks,
            Clock clock,
            HashLogOptions options,
            boolean reopened) {
        this.tasks = tasks;
        this.site = new LogSite("test", disk, "log", tasks, clock, budget, meters, events);
        boolean done = false;
        try {
            this.log =
                    reopened ? HashLog.open(site, options) : HashLog.create(site, options, LOG_ID);
            done = true;
        } finally {
            if (!done) {
                tasks.close();
            }
        }
    }

    public static HashLogOptions options() {
        return HashLogOptions.defaults().withLog(LogOptions.of(SHAPE)).withTable(8, 16 << 20);
    }

    public static LogBench onThreads(@Nullable Disk disk, HashLogOptions options) {
        return new LogBench(disk, ThreadTasks.create("test"), Clock.system(), options, false);
    }

    public static LogBench reopenedOnThreads(Disk disk, HashLogOptions options) {
        return new LogBench(disk, ThreadTasks.create("test"), Clock.system(), options, true);
    }

    public static LogBench simulated(long seed, @Nullable Disk disk, HashLogOptions options) {
        SimClock clock = new SimClock();
        return new LogBench(disk, new SimTasks(seed, clock), clock, options, false);
    }

    /** The log that is on the disk, recovered. */
    public static LogBench reopened(long seed, Disk disk, HashLogOptions options) {
        SimClock clock = new SimClock();
        return new LogBench(disk, new SimTasks(seed, clock), clock, options, true);
    }

    public static SimDisk disk(long seed) {
        return new SimDisk(seed, Profile.ADVERSARIAL);
    }

    public int register(String field) {
        return log.register(field, PsfDefinition.parse("field(" + field + ")")).id();
    }

    public static MemorySegment segment(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The records of a property, newest first. */
    public List<String> find(Property property) {
        List<String> found = new ArrayList<>();
        try (LogReader reader = log.openReader("find")) {
            reader.protect();
            ChainWalk walk = log.walk(reader, property);
            walk.start(log.log().begin());
            while (walk.next()) {
                byte[] payload = walk.segment()
                        .asSlice(walk.payloadOffset(), walk.payloadBytes())
                        .toArray(ValueLayout.JAVA_BYTE);
                found.add(new String(payload, StandardCharsets.UTF_8));
                reader.refresh();
            }
        }
        return found;
    }

    @Override
    public void close() {
        log.close();
        tasks.close();
    }
}
