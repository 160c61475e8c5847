package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Sound files of an older time in the place of newer ones: a log that goes on behind the end that
 * they tell is refused, and nothing of it is cut. What a power cut leaves behind the end is cut,
 * whatever the ring was.
 */
class OlderFilesTest {
    private static final long SEED = Seeds.of("OlderFilesTest");
    private static final int COUNT = 1_500;
    private static final LogShape SHAPE = LogBench.SHAPE;

    /** No index checkpoint says where the log ends. */
    private static final HashLogOptions OPTIONS = LogBench.options();

    private static HashLogOptions options(int ringPageCount) {
        LogShape shape = new LogShape(SHAPE.pageBytes(), ringPageCount, SHAPE.segmentPageCount());
        return OPTIONS.withLog(LogOptions.of(shape));
    }

    private static void append(IngestSession session, int n) {
        MemorySegment record = LogBench.segment(LogState.event("s", n));
        session.append(record, 0, (int) record.byteSize());
    }

    private static Map<String, byte[]> contents(SimDisk disk) {
        Map<String, byte[]> contents = new TreeMap<>();
        disk.files().stream()
                .filter(name -> !name.endsWith("LOCK"))
                .forEach(name -> contents.put(name, disk.content(name)));
        return contents;
    }

    private static Map<String, Integer> hashes(SimDisk disk) {
        Map<String, Integer> hashes = new TreeMap<>();
        contents(disk).forEach((name, bytes) -> hashes.put(name, Arrays.hashCode(bytes)));
        return hashes;
    }

    private static List<Integer> numbersOf(SimDisk disk, HashLogOptions options) {
        try (LogBench bench = LogBench.reopened(SEED, disk, options)) {
            return LogState.of(bench.log).numbersOf("s");
        }
    }

    private static long segmentsOf(Map<String, byte[]> contents) {
        return contents.keySet().stream().filter(n -> n.endsWith(".pages")).count();
    }

    /** TAIL and the last segment as they were at some moment. */
    private static final class Older {
        final byte[] tail;
        final String name;
        final byte[] segment;

        Older(SimDisk disk) {
            tail = disk.content("log/TAIL");
            name = disk.files().stream()
                    .filter(n -> n.endsWith(".pages"))
                    .toList()
                    .getLast();
            segment = disk.content(name);
        }
    }

    /** What becomes of PSFs, from an older registry to the newest one. */
    enum Change {
        REMOVED {
            @Override
            void make(HashLog log) {
                log.deregister(0);
            }
        },
        ADDED {
            @Override
            void make(HashLog log) {
                log.register("type", TYPE);
            }
        },
        ADDED_AGAIN {
            @Override
            void make(HashLog log) {
                log.deregister(0);
                log.register("w", PsfDefinition.parse("field(w)"));
            }
        };

        abstract void make(HashLog log);
    }

    private static final PsfDefinition TYPE = PsfDefinition.parse("field(type)");

    private static HashLogOptions checkpointed() {
        return OPTIONS.withCheckpoints(16 << 10);
    }

    private static void appendDurably(HashLog log, int from, int to) {
        try (IngestSession session = log.openSession("s", from, _ -> {})) {
            for (int i = from; i < to; i++) {
                append(session, i);
            }
            session.awaitDurable();
        }
    }

    /**
     * Its PSFs would be asked for records that were never put into their chains, and records have
     * chains that it does not know.
     *
     * @param isIndexed an index checkpoint at the close vouches for all pages
     */
    @ParameterizedTest
    @CsvSource({
        "REMOVED, false", "ADDED, false", "ADDED_AGAIN, false",
        "REMOVED, true", "ADDED, true", "ADDED_AGAIN, true"
    })
    void a_registry_of_before_a_change_is_refused(Change change, boolean isIndexed) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        byte[] older;
        HashLogOptions options = isIndexed ? checkpointed() : OPTIONS;
        try (LogBench bench = LogBench.simulated(SEED, disk, options)) {
            bench.register("w");
            appendDurably(bench.log, 0, 20);
            older = disk.content("log/HASHLOG");
            change.make(bench.log);
            appendDurably(bench.log, 20, 40);
        }
        byte[] newest = disk.content("log/HASHLOG");
        disk.put("log/HASHLOG", older);
        requireRefused(disk);
        disk.put("log/HASHLOG", newest);
        assertThat(numbersOf(disk, OPTIONS)).hasSize(40);
        assertThat(disk.content("log/HASHLOG")).isEqualTo(newest);
        disk.put("log/HASHLOG", older);
        LogSite from = site(disk, "log");
        LogSite to = site(disk, "new");
        try (LogSalvage salvage = LogSalvage.open(from, null);
                HashLog target = HashLog.create(to, salvage.targetOptions(OPTIONS), 77)) {
            assertThat(salvage.copy(target, _ -> {}, () -> false).records()).isEqualTo(40);
            try (LogCursor cursor = target.find(LogQuery.property("w", "s"))) {
                int found = 0;
                while (cursor.next()) {
                    found++;
                }
                assertThat(found).isEqualTo(40);
            }
        } finally {
            from.tasks().close();
            to.tasks().close();
        }
    }

    private static void requireRefused(SimDisk disk) {
        Map<String, Integer> before = hashes(disk);
        assertThatThrownBy(() -> numbersOf(disk, OPTIONS))
                .isInstanceOf(CorruptionException.class)
                .hasMessageStartingWith("log/HASHLOG")
                .hasMessageContaining("restore the newest");
        assertThatThrownBy(() -> LogBench.reading(SEED, disk, OPTIONS).close())
                .isInstanceOf(CorruptionException.class);
        assertThat(hashes(disk)).isEqualTo(before);
    }

    /** The page before the end is the only one that can tell. */
    @Test
    void a_registry_of_before_a_change_is_refused_where_the_newest_page_is_empty() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        byte[] older;
        SimDisk killed;
        try (LogBench bench = LogBench.simulated(SEED, disk, OPTIONS)) {
            bench.register("w");
            older = disk.content("log/HASHLOG");
            bench.log.deregister(0);
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 0);
                int room = SHAPE.pageBytes() - SHAPE.offsetOf(bench.log.log().tail());
                String start = LogState.event("s", 1).replace("}", "");
                String full =
                        start + " ".repeat(room - RecordHeader.BYTES - 1 - start.length()) + "}";
                session.append(LogBench.segment(full), 0, full.length());
                bench.log.awaitDurable();
                assertThat(bench.log.log().tail() % SHAPE.pageBytes())
                        .isIn(0L, (long) SHAPE.pageHeaderBytes());
                assertThat(bench.log.checkpoint()).isPositive();
                killed = disk.copy();
            }
        }
        try (LogBench bench = LogBench.reopened(SEED, killed.copy(), OPTIONS)) {
            assertThat(LogState.of(bench.log).records()).hasSize(2);
        }
        killed.put("log/HASHLOG", older);
        requireRefused(killed);
    }

    /** All its chains have what they had. */
    @Test
    void a_registry_of_before_a_change_is_believed_where_nothing_was_written_since() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        byte[] older;
        try (LogBench bench = LogBench.simulated(SEED, disk, OPTIONS)) {
            bench.log.register("type", TYPE);
            appendDurably(bench.log, 0, 20);
            older = disk.content("log/HASHLOG");
            bench.log.deregister(0);
        }
        disk.put("log/HASHLOG", older);
        try (LogBench bench = LogBench.reopened(SEED, disk, OPTIONS)) {
            LogState state = LogState.of(bench.log);
            assertThat(state.numbersOf("s")).hasSize(20);
            state.checkChains(bench.log, "older");
        }
    }

    @ParameterizedTest
    @EnumSource(Profile.class)
    void pages_behind_an_older_tail_and_its_segment_are_not_cut(Profile profile) {
        SimDisk disk = new SimDisk(SEED, profile);
        List<Older> olders = new ArrayList<>();
        try (LogBench bench = LogBench.simulated(SEED, disk, OPTIONS);
                IngestSession session = bench.log.openSession("s")) {
            for (int i = 0; i < COUNT; i++) {
                append(session, i);
                if (i % 50 == 49) {
                    session.awaitDurable();
                    olders.add(new Older(disk));
                }
            }
        }
        Map<String, byte[]> whole = contents(disk);
        assertThat(segmentsOf(whole)).isGreaterThan(4);
        String newest = olders.getLast().name;
        int refused = 0;
        for (Older older : olders) {
            if (older.name.equals(newest)) {
                continue; // nothing is left that could tell
            }
            SimDisk mixed = disk.copy();
            mixed.put("log/TAIL", older.tail);
            mixed.put(older.name, older.segment);
            Map<String, Integer> before = hashes(mixed);
            if (Arrays.equals(older.segment, whole.get(older.name))) {
                assertThat(numbersOf(mixed, OPTIONS)).hasSize(COUNT); // it was full
                continue;
            }
            assertThatThrownBy(() -> numbersOf(mixed, OPTIONS))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageStartingWith(older.name)
                    .hasMessageContaining("TAIL")
                    .hasMessageContaining("restore");
            assertThatThrownBy(() -> LogBench.reading(SEED, mixed, OPTIONS).close())
                    .isInstanceOf(CorruptionException.class);
            assertThat(hashes(mixed)).isEqualTo(before);
            requireSalvaged(mixed);
            mixed.put("log/TAIL", disk.content("log/TAIL"));
            mixed.put(older.name, disk.content(older.name));
            assertThat(numbersOf(mixed, OPTIONS)).hasSize(COUNT);
            refused++;
        }
        assertThat(refused).isGreaterThan(10);
    }

    /** All but what the older segment lacks. */
    private static void requireSalvaged(SimDisk disk) {
        LogSite from = site(disk, "log");
        LogSite to = site(disk, "new");
        try (LogSalvage salvage = LogSalvage.open(from, null);
                HashLog target = HashLog.create(to, salvage.targetOptions(OPTIONS), 77)) {
            LogSalvage.Result result = salvage.copy(target, _ -> {}, () -> false);
            // a segment of pages holds less than 400 of them
            assertThat(result.records()).isBetween(COUNT - 400L, COUNT - 1L);
            assertThat(result.lostBytes()).isPositive();
        } finally {
            from.tasks().close();
            to.tasks().close();
        }
    }

    private static LogSite site(SimDisk disk, String directory) {
        SimClock clock = new SimClock();
        return new LogSite(
                directory,
                disk,
                directory,
                new SimTasks(SEED, clock),
                clock,
                MemoryBudget.of(640 << 20),
                new Meters(),
                new StoreEvents());
    }

    /**
     * A log is made with one ring, written with a second one, and opened after the cut with a
     * third.
     */
    @ParameterizedTest
    @EnumSource(Profile.class)
    void pages_in_flight_are_cut_whatever_the_ring_was(Profile profile) {
        SimDisk disk = new SimDisk(SEED, profile);
        try (LogBench bench = LogBench.simulated(SEED, disk, options(8));
                IngestSession session = bench.log.openSession("s")) {
            append(session, 0);
        }
        List<SimDisk> cuts = new ArrayList<>();
        try (LogBench bench = LogBench.reopened(SEED, disk, options(64));
                IngestSession session = bench.log.openSession("s")) {
            disk.onOperation(step -> {
                if (step.kind() != OperationKind.READ && step.kind() != OperationKind.LIST) {
                    cuts.add(disk.crashImage(step.index()));
                }
            });
            for (int i = 1; i < COUNT; i++) {
                append(session, i);
                if (i % 400 == 0) {
                    bench.run(5_000);
                }
            }
        }
        disk.onOperation(_ -> {});
        assertThat(cuts).hasSizeGreaterThan(30);
        int behind = 0;
        for (SimDisk cut : cuts) {
            long before = segmentsOf(contents(cut));
            List<Integer> numbers = numbersOf(cut, options(4));
            for (int i = 0; i < numbers.size(); i++) {
                assertThat(numbers.get(i)).isEqualTo(i);
            }
            behind += (int) (before - segmentsOf(contents(cut)));
        }
        if (profile == Profile.ADVERSARIAL) {
            assertThat(behind).isPositive();
        }
    }
}
