package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.DiskFile;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.source.tail.TailKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * Random histories of a program that writes lines and of what rotates its files, with a feed that
 * follows them and is stopped and killed: each line is delivered once. What an action reports goes
 * into the trace that a failure prints.
 */
class TailHistoryTest {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").field("name", "string").build();
    private static final String ACTIVE = "app.log";
    private static final long SECOND = 1_000_000_000;

    /** A program that logs, and what rotates its files. */
    private static final class Program {
        private final SimDisk disk;
        private final SimClock clock;
        private final SplittableRandom random;
        private final List<String> trace = new ArrayList<>();
        private final Deque<Runnable> plan = new ArrayDeque<>();
        private @Nullable DiskFile log;
        private long openedNanos;
        private String half = "";
        private long count;
        private boolean isFollowed;
        private long followedToNanos;
        private boolean isQuiet;

        Program(SimDisk disk, SimClock clock, SplittableRandom random) {
            this.disk = disk;
            this.clock = clock;
            this.random = random;
        }

        private void note(String what) {
            trace.add("%d ms: %s".formatted(clock.monotonicNanos() / 1_000_000, what));
        }

        /** One action, or the next step of one. */
        void act() {
            if (isQuiet) {
                return;
            }
            Runnable next = plan.poll();
            if (next != null) {
                next.run();
                return;
            }
            switch (random.nextInt(12)) {
                case 0 -> rename();
                case 1 -> copyAndTruncate();
                case 2 -> compress();
                case 3 -> delete();
                default -> append();
            }
        }

        /** Ends what is half done. */
        void finish() {
            while (!plan.isEmpty()) {
                plan.removeFirst().run();
            }
            endLine();
            close();
            isQuiet = true;
        }

        private DiskFile log() {
            DiskFile open = log;
            if (open == null) {
                open = disk.exists(ACTIVE) ? disk.open(ACTIVE) : disk.create(ACTIVE);
                log = open;
                openedNanos = clock.monotonicNanos();
            }
            return open;
        }

        private void close() {
            DiskFile open = log;
            log = null;
            if (open != null) {
                open.close();
            }
        }

        private void write(String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            DiskFile to = log();
            to.write(to.size(), MemorySegment.ofArray(bytes), 0, bytes.length);
            if (disk.exists(ACTIVE)) {
                disk.touch(ACTIVE, clock.wallMicros());
            }
        }

        private void append() {
            StringBuilder text = new StringBuilder(half);
            half = "";
            int lines = random.nextInt(1, 30);
            for (int i = 0; i < lines; i++) {
                text.append("{\"id\":%d,\"name\":\"%s\"}\n"
                        .formatted(count++, "n".repeat(random.nextInt(40))));
            }
            if (random.nextInt(3) == 0) {
                String line = "{\"id\":%d,\"name\":\"half\"}\n".formatted(count++);
                int cut = random.nextInt(1, line.length() - 2);
                text.append(line, 0, cut);
                half = line.substring(cut);
            }
            note("append to " + count + (half.isEmpty() ? "" : ", the last in part"));
            write(text.toString());
        }

        private void endLine() {
            if (!half.isEmpty()) {
                note("end of a line");
                String text = half;
                half = "";
                write(text);
            }
        }

        /** Makes room for {@code app.log.1}. */
        private void shift() {
            for (int i = 12; i >= 1; i--) {
                for (String end : List.of("", ".gz")) {
                    String from = ACTIVE + "." + i + end;
                    if (disk.exists(from)) {
                        disk.rename(from, ACTIVE + "." + (i + 1) + end);
                    }
                }
            }
        }

        private boolean isFull() {
            return disk.exists(ACTIVE + ".12") || disk.exists(ACTIVE + ".12.gz");
        }

        private void rename() {
            if (isFull() || !disk.exists(ACTIVE)) {
                return;
            }
            note("rename");
            shift();
            disk.rename(ACTIVE, ACTIVE + ".1");
            // the program writes on to the file that it has open until it is told
            plan.add(() -> {
                if (log != null) {
                    endLine();
                }
                close();
            });
        }

        private void copyAndTruncate() {
            if (isFull() || !disk.exists(ACTIVE)) {
                return;
            }
            endLine();
            shift();
            byte[] bytes = disk.content(ACTIVE);
            int part = random.nextInt(bytes.length + 1);
            note("copy %d of %d bytes".formatted(part, bytes.length));
            put(ACTIVE + ".1", Arrays.copyOf(bytes, part));
            plan.add(() -> {
                note("copy all");
                grow(ACTIVE + ".1", bytes, part);
            });
            plan.add(() -> {
                note("truncate");
                log().truncate(0);
                openedNanos = clock.monotonicNanos();
                disk.touch(ACTIVE, clock.wallMicros());
                if (random.nextBoolean()) {
                    append();
                }
            });
        }

        private void compress() {
            List<String> plain = disk.list("").stream()
                    .filter(name -> name.startsWith(ACTIVE + ".") && !name.endsWith(".gz"))
                    .toList();
            if (plain.isEmpty()) {
                return;
            }
            String name = plain.get(random.nextInt(plain.size()));
            byte[] bytes = SimulatedFeed.gzip(disk.content(name));
            int part = random.nextInt(bytes.length);
            note("compress " + name);
            put(name + ".gz", Arrays.copyOf(bytes, part));
            plan.add(() -> grow(name + ".gz", bytes, part));
            plan.add(() -> {
                note("delete " + name);
                disk.delete(name);
            });
        }

        /** Takes the name away from the file that is written, once the feed must have seen it. */
        private void delete() {
            if (!isFollowed
                    || log == null
                    || !disk.exists(ACTIVE)
                    || clock.monotonicNanos() - openedNanos < SECOND / 2
                    || followedToNanos - clock.monotonicNanos() < SECOND / 2) {
                return;
            }
            note("delete while it is written");
            disk.delete(ACTIVE);
            plan.add(() -> {
                append();
                endLine();
            });
            plan.add(this::close);
        }

        private void put(String name, byte[] bytes) {
            disk.put(name, bytes);
            disk.touch(name, clock.wallMicros());
        }

        private void grow(String name, byte[] bytes, int from) {
            try (DiskFile file = disk.open(name)) {
                file.write(from, MemorySegment.ofArray(bytes), from, bytes.length - from);
            }
            disk.touch(name, clock.wallMicros());
        }
    }

    private static void follow(
            Program program, SimulatedFeed.Memory memory, long seed, BooleanSupplier stopped) {
        try (SimTasks tasks = new SimTasks(seed, program.clock)) {
            var _ = tasks.start("program", 40_000, () -> {
                program.act();
                return false;
            });
            try (var source = TailKind.follow(program.disk, ACTIVE + "*")) {
                FeedRun run = new FeedRun(
                        new FeedRun.Parts(
                                "f",
                                source,
                                new JsonRecordParser(TYPE, true, List.of()),
                                ',',
                                memory,
                                tasks,
                                program.clock,
                                new StoreEvents()),
                        FeedProgress.none(),
                        stopped);
                assertThat(run.run()).isFalse();
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("killed");
            }
        }
    }

    @Test
    void noLineIsLostOrRepeated() {
        long first = Seeds.of("TailHistoryTest");
        int histories = Tier.count(20, 350, 5_000);
        for (int history = 0; history < histories; history++) {
            String as = "%s history %d".formatted(Seeds.replay("TailHistoryTest", first), history);
            SplittableRandom random = new SplittableRandom(first + history);
            SimDisk disk = new SimDisk(history, Profile.STRICT);
            SimClock clock = new SimClock();
            Program program = new Program(disk, clock, random.split());
            SimulatedFeed.Memory memory = new SimulatedFeed.Memory();
            int runs = random.nextInt(1, 5);
            for (int run = 0; run < runs; run++) {
                program.note("the feed starts");
                program.isFollowed = true;
                // what it wrote while nobody followed is found first
                program.openedNanos = clock.monotonicNanos();
                long end = clock.monotonicNanos() + random.nextLong(3 * SECOND);
                program.followedToNanos = end;
                if (random.nextInt(3) == 0) {
                    memory.killIn = random.nextInt(1, 20);
                    memory.killAfterCommit = random.nextBoolean();
                    program.isFollowed = false; // it may be dead when a file is deleted
                }
                follow(program, memory, first + run, () -> clock.monotonicNanos() >= end);
                memory.killIn = Integer.MAX_VALUE;
                program.isFollowed = false;
                program.note("the feed ends");
                // what a program does to a file without a name is nobody's to find later
                while (!program.plan.isEmpty()) {
                    program.act();
                }
                for (int i = random.nextInt(12); i > 0; i--) {
                    clock.advanceMicros(random.nextInt(100_000));
                    program.act();
                }
            }
            program.finish();
            long end = clock.monotonicNanos() + 4 * SECOND;
            follow(program, memory, first, () -> clock.monotonicNanos() >= end);
            assertThat(disk.openHandles()).as(as).isEmpty();
            check(memory, program, as);
        }
    }

    private static void check(SimulatedFeed.Memory memory, Program program, String as) {
        Set<Long> seen = new HashSet<>();
        List<Long> repeated = new ArrayList<>();
        for (Long id : memory.ids) {
            if (!seen.add(id)) {
                repeated.add(id);
            }
        }
        List<Long> lost = new ArrayList<>();
        for (long id = 0; id < program.count; id++) {
            if (!seen.contains(id)) {
                lost.add(id);
            }
        }
        assertThat(lost.isEmpty() && repeated.isEmpty() && memory.letters.isEmpty())
                .as(
                        "%s: lost %s, repeated %s, letters %s; rows %s%n%s",
                        as,
                        lost,
                        repeated,
                        memory.letters,
                        memory.positions.keySet(),
                        String.join("\n", program.trace))
                .isTrue();
        assertThat(Objects.requireNonNull(memory.positions)).as(as).isNotEmpty();
    }
}
