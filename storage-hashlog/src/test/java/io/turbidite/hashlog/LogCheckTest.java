package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.hashlog.chain.KeyPointer;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/** What a look at all of a log finds. */
class LogCheckTest {
    private static final long SEED = Seeds.of("LogCheckTest");
    private static final int COUNT = 300;

    private static void ingest(HashLog log, int from, int to) {
        try (IngestSession session = log.openSession("loader", from, record -> {})) {
            for (int i = from; i < to; i++) {
                MemorySegment record =
                        LogBench.segment("{\"id\":%d,\"type\":\"t%d\",\"text\":\"%s\"}"
                                .formatted(i, i % 7, "x".repeat(20 + i * 37 % 900)));
                session.append(record, 0, (int) record.byteSize());
            }
            session.awaitDurable();
        }
    }

    /** A log with history that was indexed later, a checkpoint, and a suffix behind it. */
    private static SimDisk filled(HashLogOptions options) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, options)) {
            ingest(bench.log, 0, COUNT / 3);
            bench.register("type");
            bench.log.register("id", PsfDefinition.parse("field(id)"), 4);
            try (HistoryIndexing indexing = bench.log.indexHistory("type")) {
                indexing.await();
            }
            ingest(bench.log, COUNT / 3, 2 * COUNT / 3);
            bench.log.checkpoint();
            ingest(bench.log, 2 * COUNT / 3, COUNT);
        }
        return disk;
    }

    private static LogCheck.Result check(SimDisk disk) {
        return check(disk, LogBench.options());
    }

    private static LogCheck.Result check(SimDisk disk, HashLogOptions options) {
        SimClock clock = new SimClock();
        try (SimTasks tasks = new SimTasks(SEED, clock)) {
            LogSite site = new LogSite(
                    "log",
                    disk,
                    "log",
                    tasks,
                    clock,
                    MemoryBudget.of(640 << 20),
                    new Meters(),
                    new StoreEvents());
            return LogCheck.run(site, options, () -> false);
        }
    }

    @Test
    void a_sound_log_is_sound_and_stays_as_it_is() {
        SimDisk disk = filled(LogBench.options());
        Map<String, String> before = contents(disk);
        LogCheck.Result result = check(disk);
        assertThat(result.errors()).isEmpty();
        assertThat(result.isSound()).isTrue();
        assertThat(result.finished()).isTrue();
        assertThat(result.records()).isEqualTo(COUNT);
        assertThat(result.keyPointers()).isEqualTo(2L * 2 * COUNT / 3);
        assertThat(result.chains()).isEqualTo(7 + 2 * COUNT / 3);
        assertThat(contents(disk)).isEqualTo(before);
    }

    /** A table so small that chains share its entries, and one that a log was truncated under. */
    @Test
    void shared_entries_and_truncated_logs_are_sound() {
        HashLogOptions small = LogBench.options().withTable(6, 1 << 13);
        assertThat(check(filled(small), small).errors()).isEmpty();
        SimDisk disk = filled(LogBench.options());
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            bench.log.truncate(bench.log.log().tail() / 2);
        }
        LogCheck.Result result = check(disk);
        assertThat(result.errors()).isEmpty();
        assertThat(result.records()).isBetween(1L, COUNT - 1L);
    }

    /** After a cut at any moment a log that opens is sound. */
    @Test
    void after_a_power_cut_and_an_opening_it_is_sound() {
        for (int i = 0; i < 10; i++) {
            SimDisk disk = new SimDisk(SEED + i, Profile.ADVERSARIAL);
            try (LogBench bench = LogBench.simulated(SEED + i, disk, LogBench.options())) {
                bench.register("type");
                ingest(bench.log, 0, COUNT);
            }
            SimDisk image = disk.crashImage(SEED + i);
            LogBench.reopened(SEED, image, LogBench.options()).close();
            assertThat(check(image).errors()).isEmpty();
        }
    }

    @Test
    void a_flipped_bit_of_any_file_is_found_or_of_no_account() {
        SimDisk disk = filled(LogBench.options());
        SplittableRandom random = new SplittableRandom(SEED);
        List<String> unfound = new ArrayList<>();
        for (String file : disk.files()) {
            int length = disk.content(file).length;
            for (int i = 0; i < 12 && length > 0; i++) {
                SimDisk damaged = disk.copy();
                int at = random.nextInt(length);
                int bit = random.nextInt(8);
                damaged.flipBit(file, at, bit);
                if (check(damaged).isSound()) {
                    unfound.add("%s %d of %d".formatted(file, at, length));
                }
            }
        }
        // TAIL has two marks and room between them; zeros behind the newest page's end
        assertThat(unfound).allSatisfy(place -> assertThat(place).containsAnyOf("TAIL", ".pages"));
        assertThat(unfound).as("of %d files".formatted(disk.files().size())).hasSizeLessThan(14);
    }

    @ParameterizedTest
    @ValueSource(strings = {"log/HASHLOG", "log/00000000.pages", "log/TAIL"})
    void a_missing_file_is_found(String file) {
        SimDisk disk = filled(LogBench.options());
        disk.delete(file);
        LogCheck.Result result = check(disk);
        assertThat(result.isSound()).isFalse();
        assertThat(result.errors())
                .anySatisfy(
                        error -> assertThat(error).contains(file.substring(file.indexOf('/') + 1)));
    }

    /** Files are whole, and the index is of other values than the records have. */
    @Test
    void a_key_pointer_of_another_value_is_found() {
        AtomicLong shift = new AtomicLong();
        HashLogOptions options = LogBench.options()
                .withFunctions(new PsfFunctions(Map.of(
                        "shifted", (values, fields, result) -> result.integer(shift.get()))));
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, options)) {
            bench.log.register("s", PsfDefinition.parse("function(shifted, id)"));
            ingest(bench.log, 0, 10);
        }
        assertThat(check(disk, options).errors()).isEmpty();
        shift.set(1);
        assertThat(check(disk, options).errors())
                .hasSize(10)
                .allSatisfy(error -> assertThat(error)
                        .contains("a key pointer for PSF s that is not of its value"));
    }

    /** Links of an open log, changed in memory. */
    @Test
    void a_record_that_its_chain_has_lost_is_found() {
        for (boolean newest : new boolean[] {false, true}) {
            SimDisk disk = new SimDisk(SEED, Profile.STRICT);
            try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
                bench.register("type");
                ingest(bench.log, 0, 30);
                List<String> errors = new ArrayList<>();
                ChainCheck sound = new ChainCheck(bench.log, errors::add, () -> false);
                assertThat(sound.run()).isTrue();
                assertThat(errors).isEmpty();
                assertThat(sound.chainCount()).isEqualTo(7);
                skipOne(bench.log, newest ? 29 : 15);
                assertThat(new ChainCheck(bench.log, errors::add, () -> false).run())
                        .isTrue();
                assertThat(errors)
                        .singleElement()
                        .satisfies(error -> assertThat(error).contains("is not found from"));
            }
        }
    }

    /** Lets the record of this number lead past its elder. */
    private static void skipOne(HashLog log, int number) {
        try (LogReader reader = log.openReader("test")) {
            reader.protect();
            LogScan scan = new LogScan(reader);
            scan.start(log.log().begin(), log.log().safeTail());
            long at = 0;
            int seen = 0;
            while (scan.next()) {
                if (RecordHeader.kind(scan.header()) == RecordHeader.RECORD && seen++ == number) {
                    at = scan.address() + RecordHeader.BYTES;
                }
            }
            long older = KeyPointer.previous(linkAt(reader, at));
            long skipped = KeyPointer.previous(linkAt(reader, older));
            long link = linkAt(reader, at);
            long mask = (1L << 45) - 1;
            reader.segment().set(Bytes.I64, reader.offset(), (link & ~mask) | skipped >>> 3);
        }
    }

    private static long linkAt(LogReader reader, long at) {
        reader.seek(at, 8);
        return KeyPointer.loadLink(reader.segment(), reader.offset());
    }

    @Test
    void what_is_no_log_or_in_use_is_refused_and_a_stop_is_told() {
        SimDisk empty = new SimDisk(SEED, Profile.STRICT);
        assertThatThrownBy(() -> check(empty))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("there is no hash log in");
        SimDisk disk = filled(LogBench.options());
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            assertThatThrownBy(() -> check(disk)).isInstanceOf(StoreInUseException.class);
            LogSite site = bench.site;
            assertThatThrownBy(() -> LogCheck.run(site, LogBench.options(), () -> true))
                    .isInstanceOf(StoreInUseException.class);
        }
        SimClock clock = new SimClock();
        try (SimTasks tasks = new SimTasks(SEED, clock)) {
            LogSite site = new LogSite(
                    "log",
                    disk,
                    "log",
                    tasks,
                    clock,
                    MemoryBudget.of(640 << 20),
                    new Meters(),
                    new StoreEvents());
            LogCheck.Result stopped = LogCheck.run(site, LogBench.options(), () -> true);
            assertThat(stopped.finished()).isFalse();
            assertThat(stopped.chains()).isEqualTo(-1);
        }
    }

    private static Map<String, String> contents(SimDisk disk) {
        Map<String, String> contents = new java.util.TreeMap<>();
        for (String file : disk.files()) {
            contents.put(file, java.util.HexFormat.of().formatHex(disk.content(file)));
        }
        return contents;
    }
}
