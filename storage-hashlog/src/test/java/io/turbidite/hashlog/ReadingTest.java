package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * A log that is opened for reading shows what one opened for writing does, and changes no byte but
 * the lock.
 */
class ReadingTest {
    private static final long SEED = Seeds.of("ReadingTest");

    /** Small, with checkpoints that a clean close would make. */
    private static HashLogOptions options() {
        return LogBench.options().withTable(6, 16 << 20).withCheckpoints(30_000);
    }

    private static Map<String, String> bytesOf(SimDisk disk) {
        TreeMap<String, String> bytes = new TreeMap<>();
        for (String name : disk.files()) {
            if (!name.endsWith("/LOCK")) {
                bytes.put(name, HexFormat.of().formatHex(disk.content(name)));
            }
        }
        return bytes;
    }

    /**
     * Power cuts during ingestion, checkpoints, history, deletions, registrations and truncations.
     */
    private static List<SimDisk> cuts(Profile profile) {
        List<SimDisk> cuts = new ArrayList<>();
        SimDisk disk = new SimDisk(SEED, profile);
        try (LogBench bench = LogBench.simulated(SEED, disk, options());
                IngestSession session = bench.log.openSession("s")) {
            disk.onOperation(step -> {
                if (step.kind() != OperationKind.READ && step.kind() != OperationKind.LIST) {
                    cuts.add(disk.crashImage(step.index()));
                }
            });
            bench.register("type");
            for (int i = 0; i < 6; i++) {
                for (int j = 0; j < 40; j++) {
                    MemorySegment record =
                            LogBench.segment(LogState.event("s", (int) session.serial()));
                    session.append(record, 0, (int) record.byteSize());
                }
                switch (i % 6) {
                    case 0 -> session.awaitDurable();
                    case 2 -> bench.log.checkpoint();
                    case 3 -> {
                        bench.log.deregister(bench.log.psfs().getLast().id());
                        bench.register("type");
                    }
                    case 4 -> {
                        long first = LogState.of(bench.log).records().firstKey();
                        bench.log.delete(first);
                        bench.log.truncate(first + 3_000);
                    }
                    case 5 -> bench.log.indexHistory("type").await();
                    default -> {}
                }
            }
        }
        cuts.add(disk.copy());
        return cuts;
    }

    @ParameterizedTest
    @EnumSource(Profile.class)
    void reading_changes_no_byte_and_shows_what_writing_does(Profile profile) {
        List<SimDisk> cuts = cuts(profile);
        assertThat(cuts.size()).isGreaterThan(80);
        int read = 0;
        for (int i = 0; i < cuts.size(); i++) {
            SimDisk disk = cuts.get(i);
            if (!disk.exists("log/HASHLOG")) {
                continue;
            }
            String what = "%s, %s, cut %d".formatted(Seeds.replay("ReadingTest", SEED), profile, i);
            Map<String, String> before = bytesOf(disk);
            List<String> changes = new ArrayList<>();
            disk.onOperation(step -> {
                if (step.kind() != OperationKind.READ && step.kind() != OperationKind.LIST) {
                    changes.add(step.toString());
                }
            });
            LogState state;
            try (LogBench bench = LogBench.reading(SEED, disk, options())) {
                state = LogState.of(bench.log);
                state.checkChains(bench.log, what);
                use(bench.log);
                // retention, checkpoints and tidying would have had their time
                bench.run(3_000_000);
            }
            assertThat(changes).as(what).isEmpty();
            assertThat(bytesOf(disk)).as(what).isEqualTo(before);
            disk.onOperation(step -> {});
            try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
                assertThat(LogState.of(bench.log)).as(what).isEqualTo(state);
            }
            read++;
        }
        assertThat(read).isGreaterThan(60);
    }

    private static void use(HashLog log) {
        if (!log.psfs().isEmpty()) {
            try (LogCursor cursor = log.find(LogQuery.property("type", "t1"))) {
                while (cursor.next()) {
                    assertThat(cursor.length()).isPositive();
                }
            }
        }
        try (LogSubscription subscription = log.subscribe(LogQuery.all(), true)) {
            while (subscription.await(0)) {
                subscription.poll((address, segment, offset, length) -> {}, 100);
            }
        }
        log.findInParallel(LogQuery.all(), 2, () -> (address, segment, offset, length) -> {});
    }

    @Test
    void what_would_change_the_log_is_refused() {
        SimDisk disk = cuts(Profile.STRICT).getLast();
        try (LogBench bench = LogBench.reading(SEED, disk, options())) {
            HashLog log = bench.log;
            long address = LogState.of(log).records().firstKey();
            List<Runnable> changes = List.of(
                    () -> log.openSession("s"),
                    () -> log.register("n", PsfDefinition.parse("field(n)")),
                    () -> log.deregister(log.psfs().getLast().id()),
                    () -> log.indexHistory("type"),
                    () -> log.delete(address),
                    () -> log.truncate(address + 5_000),
                    log::checkpoint,
                    () -> log.log().openSession("s"),
                    () -> log.log().truncate(address));
            for (Runnable change : changes) {
                assertThatThrownBy(change::run)
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("open for reading");
            }
            try (LogCursor cursor = log.find(LogQuery.all())) {
                assertThat(cursor.next()).isTrue();
                assertThatThrownBy(cursor::delete).hasMessageContaining("open for reading");
            }
        }
    }

    @Test
    void a_log_that_lost_its_registry_is_refused_and_not_made_anew() {
        SimDisk disk = cuts(Profile.STRICT).getLast();
        byte[] registry = disk.content("log/HASHLOG");
        disk.delete("log/HASHLOG");
        Map<String, String> before = bytesOf(disk);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> LogBench.simulated(SEED, disk, options()))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining("HASHLOG")
                    .hasMessageContaining("missing");
            assertThatThrownBy(() -> LogBench.openedOrMade(SEED, disk, options()))
                    .isInstanceOf(CorruptionException.class);
            assertThatThrownBy(() -> LogBench.reading(SEED, disk, options()))
                    .isInstanceOf(CorruptionException.class);
        }
        assertThat(bytesOf(disk)).isEqualTo(before);
        disk.put("log/HASHLOG", registry);
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            assertThat(LogState.of(bench.log).records()).isNotEmpty();
        }
    }

    // ---- logs of the release before -------------------------------------------------------------

    /**
     * 120 events, the first four of which were truncated; a registry of version 4, and a tail of
     * four slots.
     */
    private static SimDisk older() {
        return golden("hashlog-v4.zip");
    }

    private static SimDisk golden(String archive) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        disk.createDirectories("log");
        try (InputStream in = Objects.requireNonNull(
                        ReadingTest.class.getResourceAsStream("/golden/" + archive));
                ZipInputStream zip = new ZipInputStream(in)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                disk.put(entry.getName(), zip.readAllBytes());
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        for (String name : disk.files()) {
            try (DiskFile file = disk.open(name)) {
                file.sync();
            }
        }
        disk.syncDirectory("log");
        disk.syncDirectory("");
        return disk;
    }

    private static List<Integer> numbers(LogBench bench) {
        LogState state = LogState.of(bench.log);
        state.checkChains(bench.log, "older");
        return state.numbersOf("s");
    }

    @Test
    void an_older_log_is_read_as_it_is_and_written_on_with_whole_marks() {
        SimDisk disk = older();
        Map<String, String> before = bytesOf(disk);
        List<Integer> numbers;
        try (LogBench bench = LogBench.reading(SEED, disk, LogBench.options())) {
            numbers = numbers(bench);
            assertThat(numbers).startsWith(4).endsWith(119).hasSize(116);
        }
        assertThat(bytesOf(disk)).isEqualTo(before);
        List<SimDisk> cuts = new ArrayList<>();
        disk.onOperation(step -> cuts.add(disk.crashImage(step.index())));
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            assertThat(numbers(bench)).isEqualTo(numbers);
            assertThat(bench.log.recoveredSerial("s")).isEqualTo(120);
        }
        disk.onOperation(step -> {});
        assertThat(disk.content("log/TAIL")).hasSize(5 * 4_096);
        cuts.add(disk);
        for (SimDisk cut : cuts) {
            try (LogBench bench = LogBench.reopened(SEED, cut, LogBench.options())) {
                assertThat(numbers(bench)).isEqualTo(numbers);
            }
        }
        disk.delete("log/TAIL");
        assertThatThrownBy(() -> LogBench.reopened(SEED, disk, LogBench.options()))
                .isInstanceOf(CorruptionException.class);
    }

    @Test
    void an_older_log_without_its_tail_is_read_whole_and_cut_nowhere() {
        for (boolean indexed : new boolean[] {true, false}) {
            SimDisk disk = older();
            List<Integer> numbers;
            try (LogBench bench = LogBench.reading(SEED, disk, LogBench.options())) {
                numbers = numbers(bench);
            }
            disk.delete("log/TAIL");
            if (!indexed) {
                disk.delete("log/00000001.index");
            }
            Map<String, String> before = bytesOf(disk);
            try (LogBench bench = LogBench.reading(SEED, disk, LogBench.options())) {
                // where it began is lost too: what was truncated is there again
                assertThat(numbers(bench)).endsWith(119).hasSize(120).containsAll(numbers);
            }
            assertThat(bytesOf(disk)).isEqualTo(before);
            SimDisk more = disk.copy();
            more.put("log/00000000.pages", withByteBehind(disk.content("log/00000000.pages")));
            Map<String, String> kept = bytesOf(more);
            try (LogBench bench = LogBench.reading(SEED, more, LogBench.options())) {
                assertThat(numbers(bench)).hasSize(120);
            }
            assertThatThrownBy(() -> LogBench.reopened(SEED, more, LogBench.options()))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining("00000000.pages")
                    .hasMessageContaining("can be read, not written");
            assertThat(bytesOf(more)).isEqualTo(kept);
            for (int i = 0; i < 2; i++) {
                try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
                    assertThat(numbers(bench)).hasSize(120);
                }
            }
        }
    }

    /**
     * The same events; one of two PSFs was removed, and no page says under which registry it was.
     */
    @Test
    void a_log_whose_registry_has_no_number_is_read_and_written_on() {
        SimDisk disk = golden("hashlog-v5.zip");
        Map<String, String> before = bytesOf(disk);
        List<Integer> numbers;
        try (LogBench bench = LogBench.reading(SEED, disk, LogBench.options())) {
            numbers = numbers(bench);
            assertThat(numbers).startsWith(4).endsWith(119).hasSize(116);
        }
        assertThat(bytesOf(disk)).isEqualTo(before);
        byte[] older = disk.content("log/HASHLOG");
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            assertThat(numbers(bench)).isEqualTo(numbers);
            bench.log.deregister(0);
            try (IngestSession session = bench.log.openSession("s", 120, _ -> {})) {
                MemorySegment record = LogBench.segment(LogState.event("s", 120));
                session.append(record, 0, (int) record.byteSize());
            }
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            assertThat(numbers(bench)).hasSize(117);
        }
        disk.put("log/HASHLOG", older);
        assertThatThrownBy(() -> LogBench.reopened(SEED, disk, LogBench.options()))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("restore the newest");
    }

    private static byte[] withByteBehind(byte[] segment) {
        byte[] longer = Arrays.copyOf(segment, segment.length + 1_000);
        longer[longer.length - 1] = 1;
        return longer;
    }
}
