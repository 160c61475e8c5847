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

    private static final Opening CREATE = (site, options) -> HashLog.create(site, options, LOG_ID);

    /** How the log comes to be. */
    private interface Opening {
        HashLog log(LogSite site, HashLogOptions options);
    }

    private LogBench(
            @Nullable Disk disk,
            Tasks tasks,
            Clock clock,
            HashLogOptions options,
            Opening opening) {
        this.tasks = tasks;
        this.site = new LogSite("test", disk, "log", tasks, clock, budget, meters, events);
        boolean done = false;
        try {
            this.log = opening.log(site, options);
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
        return onThreads(disk, Clock.system(), options);
    }

    static LogBench onThreads(@Nullable Disk disk, Clock clock, HashLogOptions options) {
        return new LogBench(disk, ThreadTasks.create("test"), clock, options, CREATE);
    }

    public static LogBench reopenedOnThreads(Disk disk, HashLogOptions options) {
        return new LogBench(
                disk, ThreadTasks.create("test"), Clock.system(), options, HashLog::open);
    }

    public static LogBench simulated(long seed, @Nullable Disk disk, HashLogOptions options) {
        SimClock clock = new SimClock();
        return new LogBench(disk, new SimTasks(seed, clock), clock, options, CREATE);
    }

    /** The log that is on the disk, recovered. */
    public static LogBench reopened(long seed, Disk disk, HashLogOptions options) {
        SimClock clock = new SimClock();
        return new LogBench(disk, new SimTasks(seed, clock), clock, options, HashLog::open);
    }

    /** The log that is on the disk, for reading. */
    public static LogBench reading(long seed, Disk disk, HashLogOptions options) {
        SimClock clock = new SimClock();
        return new LogBench(
                disk, new SimTasks(seed, clock), clock, options, HashLog::openForReading);
    }

    /** The log that is on the disk, or a new one. */
    public static LogBench openedOrMade(long seed, Disk disk, HashLogOptions options) {
        SimClock clock = new SimClock();
        return new LogBench(
                disk,
                new SimTasks(seed, clock),
                clock,
                options,
                (site, o) -> HashLog.openOrCreate(site, o, LOG_ID));
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

    /** Lets virtual time pass; of a simulated one. */
    public void run(long micros) {
        ((SimTasks) tasks).runForMicros(micros);
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
