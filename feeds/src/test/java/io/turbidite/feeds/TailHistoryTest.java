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
import io.turbidite.feeds.flow.DiscardPolicy;
import io.turbidite.feeds.flow.RecordPolicy;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.flow.WorkerPolicy;
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
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * Random histories of a program that writes lines and of what rotates its files, with a feed that
 * follows them by any policy and is stopped and killed: each line is delivered once, or left out
 * and counted. What an action reports goes into the trace that a failure prints.
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

        /** Whether the feed sees each file soon: it does not while the store is behind. */
        private boolean mayDelete;

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
                    || !mayDelete
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

    /** What a feed does while the store is behind. */
    private enum Policy {
        BASIC,
        SPILL,
        DISCARD,
        ELASTIC
    }

    private static final List<Policy> POLICIES = List.of(Policy.values());

    /** A feed's policy in one history, and a store that stops now and then for a while. */
    private static final class How {
        final Policy policy;
        private final SplittableRandom random;
        private final SpillPlace place;
        private final RecordPolicy discard;
        private final Map<String, byte[]> spilled = new TreeMap<>();
        private final SimDisk disk;

        /** Whether the store never stops. */
        boolean isSteady;

        private long stoppedToNanos;

        How(Policy policy, SimDisk disk, SplittableRandom random) {
            this.policy = policy;
            this.disk = disk;
            this.random = random;
            this.isSteady = policy == Policy.BASIC || policy == Policy.ELASTIC;
            this.discard = new DiscardPolicy(random.nextInt(1, 60) / 100.0, random.nextInt(2, 20));
            this.place = new SpillPlace(
                    disk,
                    "spill",
                    "feed-f-",
                    false,
                    0,
                    1L << random.nextInt(10, 18),
                    1 << random.nextInt(8, 14),
                    0);
        }

        ParseTools tools() {
            return new ParseTools(
                    new JsonRecordParser(TYPE, true, List.of()),
                    null,
                    null,
                    policy == Policy.DISCARD ? discard : RecordPolicy.TAKES_ALL);
        }

        WorkerPolicy workers() {
            return policy == Policy.ELASTIC ? new ErraticPolicy(random) : WorkerPolicy.fixed(1);
        }

        @Nullable
        SpillPlace spill() {
            return policy == Policy.SPILL ? place : null;
        }

        /** A run begins, perhaps while the store does nothing. */
        void begin(SimClock clock) {
            if (!isSteady && random.nextInt(3) > 0) {
                stoppedToNanos = clock.monotonicNanos() + random.nextLong(2 * SECOND);
            }
        }

        /** Of what is written while nobody follows; more than the ring holds where that matters. */
        int actionsMax() {
            return isSteady ? 12 : 150;
        }

        boolean isBusy(SimClock clock) {
            long now = clock.monotonicNanos();
            if (!isSteady && now >= stoppedToNanos && random.nextInt(8) == 0) {
                stoppedToNanos = now + random.nextLong(2 * SECOND);
            }
            return !isSteady && now < stoppedToNanos;
        }

        private List<String> files() {
            return disk.files().stream()
                    .filter(name -> name.startsWith("spill/"))
                    .toList();
        }

        /** A process that is killed deletes nothing. */
        void keepSpill() {
            files().forEach(name -> spilled.put(name, disk.content(name)));
        }

        /** Whether something is left of a run that was killed. */
        boolean leaveSpill() {
            assertThat(files()).isEmpty();
            boolean isLeft = !spilled.isEmpty();
            spilled.forEach(disk::put);
            spilled.clear();
            return isLeft;
        }
    }

    private final Map<String, Integer> met = new TreeMap<>();

    private void follow(
            Program program,
            SimulatedFeed.Memory memory,
            How how,
            long seed,
            BooleanSupplier stopped) {
        try (SimTasks tasks = new SimTasks(seed, program.clock)) {
            var _ = tasks.start("program", 40_000, () -> {
                program.act();
                return false;
            });
            how.begin(program.clock);
            try (var source = TailKind.follow(program.disk, ACTIVE + "*")) {
                FeedRun run = new FeedRun(
                        new FeedRun.Parts(
                                "f",
                                source,
                                how::tools,
                                how.workers(),
                                ',',
                                new OneWrite(memory, () -> how.isBusy(program.clock)),
                                tasks,
                                program.clock,
                                new StoreEvents(),
                                how.spill()),
                        FeedProgress.none(),
                        () -> {
                            boolean stops = stopped.getAsBoolean();
                            if (stops && !how.files().isEmpty()) {
                                met.merge("spilled at a stop", 1, Integer::sum);
                            }
                            return stops;
                        });
                assertThat(run.run()).isFalse();
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("killed");
                met.merge("killed by " + how.policy, 1, Integer::sum);
            }
        }
        if (how.leaveSpill()) {
            met.merge("spilled at a kill", 1, Integer::sum);
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
            How how = new How(POLICIES.get(random.nextInt(POLICIES.size())), disk, random.split());
            program.mayDelete = how.isSteady;
            program.note("policy " + how.policy);
            memory.whenKilled = how::keepSpill;
            int runs = random.nextInt(1, 5);
            for (int i = how.isSteady ? 0 : random.nextInt(how.actionsMax()); i > 0; i--) {
                program.act();
            }
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
                follow(program, memory, how, first + run, () -> clock.monotonicNanos() >= end);
                memory.killIn = Integer.MAX_VALUE;
                program.isFollowed = false;
                program.note("the feed ends");
                // what a program does to a file without a name is nobody's to find later
                while (!program.plan.isEmpty()) {
                    program.act();
                }
                for (int i = random.nextInt(how.actionsMax()); i > 0; i--) {
                    clock.advanceMicros(random.nextInt(100_000));
                    program.act();
                }
            }
            program.finish();
            long end = clock.monotonicNanos() + 4 * SECOND;
            how.isSteady = true;
            follow(program, memory, how, first, () -> clock.monotonicNanos() >= end);
            assertThat(disk.openHandles()).as(as).isEmpty();
            check(memory, program, as);
            met.merge(memory.dropped > 0 ? "left out" : "none left out", 1, Integer::sum);
        }
        if (Tier.current() != Tier.QUICK) { // too few for each
            assertThat(met.keySet())
                    .contains(
                            "killed by BASIC",
                            "killed by ELASTIC",
                            "left out",
                            "spilled at a kill",
                            "spilled at a stop");
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
        assertThat(lost.size() == memory.dropped && repeated.isEmpty() && memory.letters.isEmpty())
                .as(
                        "%s: lost %s, %d left out, repeated %s, letters %s; rows %s%n%s",
                        as,
                        lost,
                        memory.dropped,
                        repeated,
                        memory.letters,
                        memory.positions.keySet(),
                        String.join("\n", program.trace))
                .isTrue();
        assertThat(Objects.requireNonNull(memory.positions)).as(as).isNotEmpty();
    }
}
