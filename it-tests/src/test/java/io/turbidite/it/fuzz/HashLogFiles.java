package io.turbidite.it.fuzz;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.psf.PsfDefinition;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** A small hash log, one of whose files is the input. <em>Confined to one thread.</em> */
final class HashLogFiles implements Decoder.Run {
    private static final long LOG_ID = 0x1234_5678_9ABC_DEF0L;

    private final SimDisk disk;
    private final List<String> names;

    private HashLogFiles(SimDisk disk, List<String> names) {
        this.disk = disk;
        this.names = names;
    }

    static HashLogFiles of(String part) {
        SimDisk disk = written();
        List<String> names =
                disk.files().stream().filter(name -> name.contains(part)).toList();
        if (names.isEmpty()) {
            throw new IllegalStateException("no %s among %s".formatted(part, disk.files()));
        }
        return new HashLogFiles(disk, names);
    }

    private static HashLogOptions options() {
        return HashLogOptions.defaults()
                .withLog(LogOptions.of(new LogShape(16 << 10, 8, 4)))
                .withTable(8, 16 << 20);
    }

    private static LogSite site(SimDisk disk, SimTasks tasks, SimClock clock) {
        MemoryBudget budget = MemoryBudget.of(64 << 20);
        return new LogSite(
                "test", disk, "log", tasks, clock, budget, new Meters(), new StoreEvents());
    }

    private static SimDisk written() {
        SimClock clock = new SimClock();
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimTasks tasks = new SimTasks(1, clock);
                HashLog log = HashLog.create(site(disk, tasks, clock), options(), LOG_ID)) {
            log.register("id", PsfDefinition.parse("field(id)"));
            try (IngestSession session = log.openSession("s")) {
                for (int i = 0; i < 60; i++) {
                    byte[] record = "{\"id\":%d,\"text\":\"%s\"}"
                            .formatted(i % 7, "y".repeat(i * 37 % 300))
                            .getBytes(StandardCharsets.UTF_8);
                    session.append(MemorySegment.ofArray(record), 0, record.length);
                }
                session.awaitDurable();
            }
        }
        return disk;
    }

    @Override
    public List<byte[]> seeds() {
        return names.stream()
                .map(disk::content)
                .map(bytes -> Arrays.copyOf(bytes, Math.min(bytes.length, 48 << 10)))
                .toList();
    }

    @Override
    public void decode(byte[] input) {
        SimDisk changed = disk.copy();
        String name = names.getFirst();
        int length = name.endsWith(".pages")
                ? Math.max(input.length, disk.content(name).length)
                : input.length;
        changed.put(name, Arrays.copyOf(input, length));
        SimClock clock = new SimClock();
        try (SimTasks tasks = new SimTasks(1, clock);
                HashLog log = HashLog.open(site(changed, tasks, clock), options())) {
            read(log, LogQuery.all());
            read(log, LogQuery.property("id", "3"));
        }
    }

    private static void read(HashLog log, LogQuery query) {
        try (LogCursor cursor = log.find(query)) {
            while (cursor.next()) {
                cursor.length();
            }
        }
    }
}
