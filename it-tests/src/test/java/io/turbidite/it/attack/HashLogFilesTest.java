package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Every file of a hash log is attacked in every way before it is opened: its answers are right or a
 * {@link StorageException}; and when the file is put back, every record is there again.
 */
class HashLogFilesTest {
    private static final long SEED = Seeds.of("HashLogFilesTest");
    private static final int ROUNDS = Tier.count(1, 3, 200);
    private static final int RECORDS = 120;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final List<String> wrong = new ArrayList<>();
    private int toldCount;

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

    private static String text(int i, String author) {
        return "{\"id\":%d,\"n\":%d,\"by\":\"%s\",\"text\":\"%s\"}"
                .formatted(i % 7, i, author, "y".repeat(i * 37 % 300));
    }

    /** A log as a close left it, or as it was when all was durable and the process was killed. */
    private static SimDisk written(boolean killed, long logId, String author) {
        SimClock clock = new SimClock();
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        SimDisk image = disk;
        try (SimTasks tasks = new SimTasks(SEED, clock);
                HashLog log = HashLog.create(site(disk, tasks, clock), options(), logId)) {
            log.register("id", PsfDefinition.parse("field(id)"));
            try (IngestSession session = log.openSession("s")) {
                for (int i = 0; i < RECORDS; i++) {
                    byte[] record = text(i, author).getBytes(StandardCharsets.UTF_8);
                    session.append(MemorySegment.ofArray(record), 0, record.length);
                }
                session.awaitDurable();
                if (killed) {
                    image = disk.copy();
                }
            }
        }
        return image;
    }

    private static List<String> found(HashLog log, LogQuery query) {
        List<String> found = new ArrayList<>();
        try (LogCursor cursor = log.find(query)) {
            while (cursor.next()) {
                byte[] bytes = cursor.segment()
                        .asSlice(cursor.offset(), cursor.length())
                        .toArray(ValueLayout.JAVA_BYTE);
                found.addFirst(new String(bytes, StandardCharsets.UTF_8));
            }
        }
        return found;
    }

    private static List<String> expected(int id) {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            if (id < 0 || i % 7 == id) {
                expected.add(text(i, "a"));
            }
        }
        return expected;
    }

    /** Asks everything: a wrong answer fails the test; what was refused instead is counted. */
    private static int ask(SimDisk disk, String as) {
        int told = 0;
        SimClock clock = new SimClock();
        try (SimTasks tasks = new SimTasks(SEED, clock);
                HashLog log = HashLog.open(site(disk, tasks, clock), options())) {
            for (int id = -1; id < 7; id++) {
                LogQuery query =
                        id < 0 ? LogQuery.all() : LogQuery.property("id", Integer.toString(id));
                try {
                    assertThat(found(log, query)).as("id %d; %s", id, as).isEqualTo(expected(id));
                } catch (StorageException refused) {
                    told++;
                }
            }
        }
        return told;
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void a_file_that_was_attacked_is_told_or_not_needed(boolean killed) {
        SimDisk sound = written(killed, 0x1234_5678_9ABCL, "a");
        SimDisk other = written(killed, 0x4321_5678_9ABCL, "b");
        assertThat(ask(sound.copy(), "sound")).isZero();
        for (int round = 0; round < ROUNDS; round++) {
            for (String name : sound.files()) {
                for (FileAttack attack : FileAttack.values()) {
                    attack(sound.copy(), other, name, attack, killed, round);
                }
            }
        }
        System.out.printf("HashLogFilesTest: %d were told%n", toldCount);
        assertThat(wrong).isEmpty();
        assertThat(toldCount).isPositive();
    }

    private void attack(
            SimDisk disk,
            SimDisk other,
            String name,
            FileAttack attack,
            boolean killed,
            int round) {
        byte[] sound = disk.content(name);
        boolean useless = name.endsWith("LOCK") || sound.length == 0 || !other.exists(name);
        if (useless) {
            return;
        }
        String as = "%s %s, %s, round %d; %s"
                .formatted(
                        name,
                        attack,
                        killed ? "killed" : "closed",
                        round,
                        Seeds.replay("HashLogFilesTest", SEED));
        attack.run(disk, name, other.content(name), random);
        byte[] attacked = content(disk, name);
        try {
            if (ask(disk, as) == 0) {
                return;
            }
        } catch (StorageException refused) {
            assertThat(refused.getMessage()).as(as).isNotBlank();
        } catch (RuntimeException | Error e) {
            wrong.add("%s: %s".formatted(as, e));
            return;
        }
        toldCount++;
        // a file that was written anew keeps what was written
        if (Arrays.equals(content(disk, name), attacked)) {
            putBack(disk, name, sound, as);
        }
    }

    private void putBack(SimDisk disk, String name, byte[] sound, String as) {
        if (disk.exists(name)) {
            FileAttack.write(disk, name, sound);
        } else {
            disk.put(name, sound);
        }
        try {
            assertThat(ask(disk, as)).as(as).isZero();
        } catch (RuntimeException | Error e) {
            wrong.add("put back, %s: %s".formatted(as, e));
        }
    }

    private static byte @Nullable [] content(SimDisk disk, String name) {
        return disk.exists(name) ? disk.content(name) : null;
    }
}
