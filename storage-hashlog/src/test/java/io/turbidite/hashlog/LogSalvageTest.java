package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.SoundRecords.Loss;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** What is left of damaged logs. */
class LogSalvageTest {
    private static final long SEED = Seeds.of("LogSalvageTest");
    private static final int COUNT = 200;
    private static final int PAGE = LogBench.SHAPE.pageBytes();

    private static String event(int i) {
        return "{\"id\":%d,\"type\":\"t%d\",\"text\":\"%s\"}"
                .formatted(i, i % 3, "x".repeat(i % 8 == 3 ? 9_000 : 20 + i * 7 % 400));
    }

    /** A closed log: events, one of which was deleted, and a line that no parser takes. */
    private static SimDisk filled() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            try (IngestSession session = bench.log.openSession("loader")) {
                session.append(LogBench.segment("no json"), 0, 7);
                bench.register("type");
                for (int i = 0; i < COUNT; i++) {
                    MemorySegment record = LogBench.segment(event(i));
                    session.append(record, 0, (int) record.byteSize());
                }
                session.awaitDurable();
            }
            try (LogCursor cursor = bench.log.find(LogQuery.all().where("id == 7"))) {
                assertThat(cursor.next()).isTrue();
                cursor.delete();
            }
            bench.log.awaitDurable();
        }
        return disk;
    }

    /** What a salvage made. */
    private record Salvaged(
            LogSalvage.Result result, List<Loss> losses, List<String> records, List<String> typed) {
        List<Integer> ids() {
            return records.stream()
                    .filter(r -> r.startsWith("{"))
                    .map(r -> Integer.parseInt(r.substring(6, r.indexOf(','))))
                    .toList();
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

    private static Salvaged salvage(SimDisk disk) {
        return salvage(disk, "new");
    }

    private static Salvaged salvage(SimDisk disk, String to) {
        List<Loss> losses = new ArrayList<>();
        LogSite from = site(disk, "log");
        LogSite site = site(disk, to);
        LogSalvage.Result result;
        try (LogSalvage salvage = LogSalvage.open(from, null);
                HashLog target =
                        HashLog.create(site, salvage.targetOptions(LogBench.options()), 77)) {
            result = salvage.copy(target, losses::add, () -> false);
        }
        try (HashLog target = HashLog.open(site, LogBench.options())) {
            boolean isTyped = !target.psfs().isEmpty();
            assertThat(target.recoveredSerial("loader")).isBetween(0L, COUNT + 1L);
            return new Salvaged(
                    result,
                    losses,
                    find(target, LogQuery.all()),
                    isTyped ? find(target, LogQuery.property("type", "t1")) : List.of());
        } finally {
            from.tasks().close();
            site.tasks().close();
        }
    }

    private static List<String> find(HashLog log, LogQuery query) {
        List<String> found = new ArrayList<>();
        try (LogCursor cursor = log.find(query)) {
            while (cursor.next()) {
                found.addFirst(LogState.text(cursor));
            }
        }
        return found;
    }

    private static List<Integer> all() {
        return IntStream.range(0, COUNT).filter(i -> i != 7).boxed().toList();
    }

    private static void requireUnopenable(SimDisk disk) {
        assertThatThrownBy(
                        () -> LogBench.reopened(SEED, disk, LogBench.options()).close())
                .isInstanceOf(CorruptionException.class);
    }

    @Test
    void of_a_sound_log_nothing_is_lost() {
        SimDisk disk = filled();
        byte[] before = disk.content("log/00000000.pages");
        Salvaged salvaged = salvage(disk);
        assertThat(salvaged.losses()).isEmpty();
        assertThat(salvaged.result().lostBytes()).isZero();
        assertThat(salvaged.result().deleted()).isEqualTo(1);
        assertThat(salvaged.result().finished()).isTrue();
        assertThat(salvaged.records()).contains("no json").hasSize(COUNT);
        assertThat(salvaged.ids()).isEqualTo(all());
        assertThat(salvaged.typed())
                .hasSize((int) all().stream().filter(i -> i % 3 == 1).count());
        assertThat(disk.content("log/00000000.pages")).isEqualTo(before);
        LogBench.reopened(SEED, disk, LogBench.options()).close();
    }

    private static String newestFile(SimDisk disk) {
        return "log/"
                + disk.list("log").stream()
                        .filter(name -> name.endsWith(".pages"))
                        .reduce("", (a, b) -> b);
    }

    private static long newestPageAt(SimDisk disk) {
        int pageInFile = (disk.content(newestFile(disk)).length - 4_096 - 1) / PAGE;
        return 4_096L + (long) pageInFile * PAGE;
    }

    @Test
    void a_damaged_block_of_the_newest_page_costs_the_records_in_it_alone() {
        SimDisk whole = filled();
        String file = newestFile(whole);
        long pageAt = newestPageAt(whole);
        int length = (int) (whole.content(file).length - pageAt);
        assertThat(length).isGreaterThan(2 * 4_096);
        SplittableRandom random = new SplittableRandom(SEED);
        int partial = 0;
        for (int round = 0; round < 40; round++) {
            SimDisk disk = whole.copy();
            disk.flipBit(file, pageAt + random.nextInt(length), random.nextInt(8));
            List<Integer> ids = salvage(disk, "new").ids();
            List<Integer> lost = new ArrayList<>(all());
            lost.removeAll(ids);
            lost.remove(Integer.valueOf(7)); // what said that 7 is deleted may be lost
            assertThat(ids).as("round %d", round).isSorted().doesNotHaveDuplicates();
            if (!lost.isEmpty()) {
                assertThat(lost)
                        .isEqualTo(IntStream.rangeClosed(lost.getFirst(), lost.getLast())
                                .boxed()
                                .toList());
            }
            partial += !lost.isEmpty() && lost.getLast() < COUNT - 1 ? 1 : 0;
        }
        assertThat(partial).isGreaterThan(10);
    }

    /**
     * A small log, all in its newest page, with one damaged byte: what is before and behind is
     * kept.
     */
    @Test
    void one_damaged_byte_of_a_small_log_costs_few_records() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("loader")) {
            for (int i = 0; i < 60; i++) {
                MemorySegment record =
                        LogBench.segment("{\"id\":%d,\"t\":\"%s\"}".formatted(i, "y".repeat(150)));
                session.append(record, 0, (int) record.byteSize());
            }
        }
        disk.flipBit("log/00000000.pages", 4_096 + 4_096 + 2_000, 3);
        requireUnopenable(disk);
        Salvaged salvaged = salvage(disk);
        assertThat(salvaged.ids()).hasSizeBetween(30, 59).contains(0, 59);
        assertThat(salvaged.losses()).isNotEmpty();
        assertThat(salvaged.result().lostBytes()).isLessThan(3 * 4_096L);
    }

    /** A payload that is made of records, as it were, and damage to the header word before it. */
    @Test
    void payload_that_looks_like_records_is_never_shown_as_records() {
        SimDisk whole = new SimDisk(SEED, Profile.STRICT);
        List<String> real = new ArrayList<>();
        try (LogBench bench = LogBench.simulated(SEED, whole, LogBench.options());
                IngestSession session = bench.log.openSession("loader")) {
            for (int i = 0; i < 12; i++) {
                byte[] forging = new byte[1_024];
                for (int at = 0; at < forging.length; at += 32) {
                    forging[at] = 24; // payload bytes
                    forging[at + 7] = (byte) 0x80; // visible
                    forging[at + 8] = 'F';
                }
                real.add(new String(forging, java.nio.charset.StandardCharsets.UTF_8));
                MemorySegment record = MemorySegment.ofArray(forging);
                session.append(record, 0, forging.length);
            }
        }
        int length = whole.content("log/00000000.pages").length;
        for (int at = 4_096 + 128; at + 8 < length; at += 8) {
            SimDisk disk = whole.copy();
            disk.flipBit("log/00000000.pages", at + at / 8 % 2, at / 16 % 8);
            List<String> found = salvage(disk).records();
            assertThat(found).as("at %d", at).isSubsetOf(real);
        }
    }

    @Test
    void a_lost_mark_is_told() {
        SimDisk disk = filled();
        byte[] tail = disk.content("log/TAIL");
        for (int slot = 1; slot <= 2; slot++) {
            SimDisk damaged = disk.copy();
            byte[] bytes = tail.clone();
            bytes[slot * 4_096 + 3] ^= 1;
            bytes[slot * 4_096 + 2_048 + 3] ^= 1;
            damaged.put("log/TAIL", bytes);
            Salvaged salvaged = salvage(damaged);
            assertThat(salvaged.ids()).isEqualTo(all());
            assertThat(salvaged.losses().toString()).contains("TAIL").contains("one of two marks");
        }
    }

    @Test
    void damage_within_a_record_costs_it_alone_and_damage_to_a_header_word_the_rest_of_the_page() {
        SplittableRandom random = new SplittableRandom(SEED);
        boolean single = false;
        boolean several = false;
        for (int round = 0; round < 60; round++) {
            SimDisk disk = filled();
            long at = 4_096 + random.nextLong(4L * PAGE);
            disk.flipBit("log/00000000.pages", at, random.nextInt(8));
            Salvaged salvaged = salvage(disk);
            List<Integer> ids = salvaged.ids();
            List<Integer> lost = new ArrayList<>(all());
            lost.removeAll(ids);
            // a block of 4 KiB or the page from there on; never another record than was there
            assertThat(ids).as("round %d", round).isSubsetOf(all()).isSorted();
            assertThat(salvaged.records())
                    .as("round %d", round)
                    .allMatch(r -> r.equals("no json")
                            || r.equals(event(Integer.parseInt(r.substring(6, r.indexOf(','))))));
            if (!lost.isEmpty()) {
                int first = all().indexOf(lost.getFirst());
                assertThat(lost).isEqualTo(all().subList(first, first + lost.size()));
                assertThat(salvaged.result().lostBytes()).isBetween(1L, (long) PAGE);
                assertThat(salvaged.losses()).isNotEmpty();
            }
            single |= lost.size() < 5;
            several |= lost.size() > 5;
        }
        assertThat(single).isTrue();
        assertThat(several).isTrue();
    }

    @Test
    void without_registry_marks_or_a_segment_the_rest_is_read() {
        SimDisk disk = filled();
        disk.delete("log/TAIL");
        Salvaged noMarks = salvage(disk, "a");
        int ids = noMarks.ids().size();
        assertThat(noMarks.ids()).isEqualTo(all());
        assertThat(ids).isEqualTo(COUNT - 1);
        assertThat(noMarks.losses().toString()).contains("TAIL").contains("no mark can be read");

        disk = filled();
        disk.flipBit("log/HASHLOG", 90, 1);
        requireUnopenable(disk);
        Salvaged noRegistry = salvage(disk, "b");
        assertThat(noRegistry.ids()).isEqualTo(all());
        assertThat(noRegistry.typed()).isEmpty();

        disk = filled();
        disk.delete("log/00000000.pages");
        Salvaged noSegment = salvage(disk, "c");
        int first = noSegment.ids().getFirst();
        assertThat(noSegment.ids()).isEqualTo(all().subList(first - 1, COUNT - 1));
        assertThat(noSegment.losses().toString()).contains("the file is missing");
        assertThat(noSegment.result().lostBytes()).isGreaterThanOrEqualTo(4L * PAGE - 4_096);
    }

    @Test
    void what_was_truncated_does_not_come_back() {
        SimDisk disk = filled();
        long begin;
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            List<Long> addresses = new ArrayList<>();
            try (LogCursor cursor = bench.log.find(LogQuery.all())) {
                while (cursor.next()) {
                    addresses.addFirst(cursor.address());
                }
            }
            bench.log.truncate(addresses.get(100));
            begin = bench.log.log().begin();
            assertThat(begin).isEqualTo(addresses.get(100));
        }
        Salvaged salvaged = salvage(disk);
        assertThat(salvaged.losses()).isEmpty();
        assertThat(salvaged.records()).hasSize(COUNT - 100);
    }

    @Test
    void a_log_that_is_open_or_not_there_is_refused() {
        SimDisk disk = filled();
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            assertThatThrownBy(() -> LogSalvage.open(bench.site, null))
                    .isInstanceOf(StoreInUseException.class);
        }
        disk.createDirectories("empty");
        LogSite empty = site(disk, "empty");
        assertThatThrownBy(() -> LogSalvage.open(empty, null))
                .isInstanceOf(InvalidRequestException.class);
        empty.tasks().close();
    }

    /** A file that the disk gives an error for is left out, and said; the others are read. */
    @ParameterizedTest
    @CsvSource({
        "log/00000001.pages, OPEN",
        "log/00000001.pages, READ",
        "log/HASHLOG, OPEN",
        "log/HASHLOG, READ",
        "log/TAIL, OPEN",
        "log/TAIL, READ"
    })
    void a_file_that_cannot_be_read_is_left_out_and_said(String file, OperationKind kind) {
        SimDisk disk = filled();
        List<String> whole = salvage(disk, "whole").records();
        assertThat(disk.exists("log/00000002.pages")).isTrue();
        disk.fault(FaultScript.with(Fault.EIO).on(kind).named(file::equals).forever());
        Salvaged salvaged = salvage(disk);
        assertThat(salvaged.result().unreadFiles()).containsExactly(file);
        assertThat(salvaged.result().finished()).isTrue();
        if (file.endsWith(".pages")) {
            assertThat(salvaged.losses()).anyMatch(loss -> loss.file().equals(file));
            assertThat(salvaged.result().lostBytes()).isEqualTo(4L * PAGE);
            assertThat(whole).containsAll(salvaged.records());
            assertThat(salvaged.records()).hasSizeBetween(whole.size() / 3, whole.size() - 20);
            assertThat(salvaged.records()).contains(whole.getFirst(), whole.getLast());
        } else {
            assertThat(salvaged.records()).containsAll(whole);
        }
    }

    /** That a process has no handles left says nothing of the file. */
    @Test
    void what_is_of_the_process_ends_the_salvage() {
        SimDisk disk = filled();
        disk.fault(FaultScript.with(Fault.EMFILE)
                .on(OperationKind.OPEN)
                .named("log/00000001.pages"::equals)
                .forever());
        assertThatThrownBy(() -> salvage(disk))
                .isInstanceOf(StorageIoException.class)
                .hasMessageContaining("Too many open files");
    }

    @Test
    void a_newest_page_that_is_cut_off_whole_is_told() {
        SimDisk disk = filled();
        String last =
                disk.files().stream().filter(n -> n.endsWith(".pages")).toList().getLast();
        byte[] bytes = disk.content(last);
        int pages = (bytes.length - 4_096) / PAGE; // the newest is not full
        assertThat(bytes.length).isGreaterThan(4_096 + pages * PAGE);
        disk.put(last, Arrays.copyOf(bytes, 4_096 + pages * PAGE));
        Salvaged salvaged = salvage(disk);
        assertThat(salvaged.losses()).hasSize(1);
        assertThat(salvaged.losses().getFirst().file()).isEqualTo(last);
        assertThat(salvaged.result().lostBytes()).isPositive();
    }
}
