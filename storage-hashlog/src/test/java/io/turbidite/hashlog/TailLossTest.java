package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.log.LogOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Marks that are lost, cut or swapped: nothing that was durable is cut for it, and putting them
 * back mends it.
 */
class TailLossTest {
    private static final long SEED = Seeds.of("TailLossTest");
    private static final String TAIL = "log/TAIL";
    private static final int COUNT = 40;

    /** All of it in the newest page. */
    private static SimDisk filled(int count) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            for (int i = 0; i < count; i++) {
                MemorySegment record = LogBench.segment(LogState.event("s", i));
                session.append(record, 0, (int) record.byteSize());
            }
        }
        return disk;
    }

    private static int countOf(SimDisk disk) {
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            return LogState.of(bench.log).numbersOf("s").size();
        }
    }

    private static void refusedUntilBack(SimDisk damaged, SimDisk whole, String what) {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> countOf(damaged))
                    .as(what)
                    .isInstanceOf(CorruptionException.class);
        }
        for (String name : whole.files()) {
            damaged.put(name, whole.content(name));
        }
        assertThat(countOf(damaged)).as(what).isEqualTo(COUNT);
    }

    @Test
    void a_missing_tail_is_damage_and_nothing_is_cut() {
        SimDisk whole = filled(COUNT);
        SimDisk damaged = whole.copy();
        byte[] tail = whole.content(TAIL);
        damaged.delete(TAIL);
        assertThatThrownBy(() -> countOf(damaged))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("TAIL")
                .hasMessageContaining("missing");
        damaged.put(TAIL, tail);
        assertThat(countOf(damaged)).isEqualTo(COUNT);
    }

    @Test
    void a_tail_cut_anywhere_is_damage_and_nothing_is_cut() {
        SimDisk whole = filled(COUNT);
        int size = whole.content(TAIL).length;
        assertThat(size).isEqualTo(5 * 4_096);
        for (int length = 0; length < size; length += length % 4_096 == 0 ? 1 : 4_095) {
            SimDisk damaged = whole.copy();
            try (DiskFile file = damaged.open(TAIL)) {
                file.truncate(length);
            }
            refusedUntilBack(damaged, whole, "cut at " + length);
        }
    }

    @Test
    void a_tail_that_is_longer_or_erased_or_of_another_log_is_damage() {
        SimDisk whole = filled(COUNT);
        SimDisk longer = whole.copy();
        longer.put(TAIL, Arrays.copyOf(whole.content(TAIL), 6 * 4_096));
        refusedUntilBack(longer, whole, "longer");
        SimDisk erased = whole.copy();
        erased.put(TAIL, Arrays.copyOf(Arrays.copyOf(whole.content(TAIL), 64), 5 * 4_096));
        refusedUntilBack(erased, whole, "erased");
        SimDisk zeros = whole.copy();
        zeros.put(TAIL, new byte[5 * 4_096]);
        refusedUntilBack(zeros, whole, "zeros");
    }

    /**
     * Each TAIL that there ever was, in the place of the newest one: no record is hidden by it, nor
     * cut.
     */
    @ParameterizedTest
    @EnumSource(Profile.class)
    void an_older_tail_hides_nothing(Profile profile) {
        SimDisk disk = new SimDisk(SEED, profile);
        List<byte[]> tails = new ArrayList<>();
        int count = 0;
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            for (; count < 700; count++) {
                MemorySegment record = LogBench.segment(LogState.event("s", count));
                session.append(record, 0, (int) record.byteSize());
                if (count % 50 == 3) {
                    session.awaitDurable();
                    tails.add(disk.content(TAIL));
                }
            }
        }
        for (byte[] tail : tails) {
            SimDisk older = disk.copy();
            older.put(TAIL, tail);
            SimDisk cut = older.copy();
            assertThat(countOf(older)).isEqualTo(count);
            assertThat(countOf(older)).isEqualTo(count); // it is whole again
            try (LogBench bench = LogBench.reading(SEED, cut, LogBench.options())) {
                assertThat(LogState.of(bench.log).numbersOf("s")).hasSize(count);
            }
        }
        assertThat(tails).hasSizeGreaterThan(10);
    }

    /**
     * As an older release wrote it: the newest page does not say how far it goes, but an index
     * checkpoint does.
     */
    @Test
    void an_older_tail_that_an_index_checkpoint_contradicts_is_refused_until_the_newer_is_back() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        byte[] older;
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            try (IngestSession session = bench.log.openSession("s")) {
                for (int i = 0; i < COUNT; i++) {
                    MemorySegment record = LogBench.segment(LogState.event("s", i));
                    session.append(record, 0, (int) record.byteSize());
                    if (i == 5) {
                        session.awaitDurable();
                    }
                }
                older = disk.content(TAIL);
            }
            bench.log.checkpoint();
        }
        byte[] pages = disk.content("log/00000000.pages");
        Arrays.fill(pages, 4_096, 4_096 + 64, (byte) 0);
        disk.put("log/00000000.pages", pages);
        SimDisk swapped = disk.copy();
        swapped.put(TAIL, older);
        assertThatThrownBy(() -> countOf(swapped))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("TAIL")
                .hasMessageContaining("index checkpoint");
        refusedUntilBack(swapped, disk, "older TAIL");
    }

    @Test
    void damage_names_the_file_the_place_and_checksums_without_a_sign() {
        SimDisk whole = filled(COUNT);
        for (int bit = 0; bit < 40; bit++) {
            SimDisk damaged = whole.copy();
            damaged.flipBit("log/00000000.pages", 4_096 + 300 + bit * 11, bit % 8);
            assertThatThrownBy(() -> countOf(damaged))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageStartingWith("log/00000000.pages at offset ")
                    .hasMessageNotContaining("0xffffffff");
        }
    }

    /**
     * Both copies of a mark: no power cut leaves that, so each opening tells it, and one for
     * writing mends it.
     */
    @Test
    void a_mark_that_is_lost_with_its_copy_is_told_and_made_again() {
        SimDisk whole = filled(COUNT);
        for (int slot = 1; slot <= 2; slot++) {
            SimDisk damaged = whole.copy();
            damaged.flipBit(TAIL, slot * 4_096 + 3, 1);
            assertThat(marksLost(damaged, true)).isZero(); // its copy is sound
            damaged.flipBit(TAIL, slot * 4_096 + 2_048 + 3, 1);
            byte[] before = damaged.content(TAIL);
            assertThat(marksLost(damaged, true)).isEqualTo(1);
            assertThat(damaged.content(TAIL)).isEqualTo(before);
            assertThat(marksLost(damaged, false)).isEqualTo(1);
            assertThat(marksLost(damaged, true)).isZero();
            assertThat(countOf(damaged)).isEqualTo(COUNT);
        }
    }

    private static int marksLost(SimDisk disk, boolean reading) {
        try (LogBench bench = reading
                ? LogBench.reading(SEED, disk, LogBench.options())
                : LogBench.reopened(SEED, disk, LogBench.options())) {
            assertThat(LogState.of(bench.log).numbersOf("s")).hasSize(COUNT);
            return bench.log.log().marksLost();
        }
    }

    @ParameterizedTest
    @EnumSource(Profile.class)
    void no_power_cut_looks_like_a_lost_mark(Profile profile) {
        SimDisk disk = new SimDisk(SEED, profile);
        List<SimDisk> cuts = new ArrayList<>();
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            disk.onOperation(step -> {
                if (step.kind().isChanging()) {
                    cuts.add(disk.crashImage(step.index()));
                }
            });
            for (int i = 0; i < 600; i++) {
                MemorySegment record = LogBench.segment(LogState.event("s", i));
                session.append(record, 0, (int) record.byteSize());
                if (i % 20 == 0) {
                    session.awaitDurable();
                }
            }
            disk.onOperation(_ -> {});
        }
        assertThat(cuts).hasSizeGreaterThan(50);
        for (SimDisk cut : cuts) {
            try (LogBench bench = LogBench.reading(SEED, cut, LogBench.options())) {
                assertThat(bench.log.log().marksLost()).isZero();
            }
        }
    }

    /** Its checksums agree, since zeros are all that it lacks, but readers fetch whole blocks. */
    @Test
    void a_page_that_a_power_cut_tore_within_zeros_at_its_end_is_not_taken_for_whole() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        byte[] older = new byte[0];
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            MemorySegment record = LogBench.segment("x".repeat(1_000));
            for (int i = 0; i < 14; i++) {
                session.append(record, 0, 1_000);
                if (i == 5) {
                    session.awaitDurable();
                    older = disk.content(TAIL);
                }
            }
            session.append(LogBench.segment("y".repeat(3_000)), 0, 3_000);
        }
        int end = 4_096 + LogBench.SHAPE.pageBytes();
        byte[] pages = disk.content("log/00000000.pages");
        assertThat(Arrays.copyOfRange(pages, end - 8, end)).containsOnly(0);
        disk.put("log/00000000.pages", Arrays.copyOf(pages, end - 8));
        disk.put(TAIL, older);
        for (int i = 0; i < 2; i++) {
            try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
                assertThat(LogState.of(bench.log).all()).hasSize(6);
            }
        }
    }

    private record Cut(SimDisk disk, long durable) {}

    /**
     * A page that a power cut tore is cut; one that was durable two syncs ago is damage, though no
     * mark was forced.
     */
    @ParameterizedTest
    @EnumSource(Profile.class)
    void a_page_damaged_after_a_power_cut_is_not_taken_for_torn(Profile profile) {
        SimDisk disk = new SimDisk(SEED, profile);
        List<Cut> cuts = new ArrayList<>();
        HashLogOptions options = LogBench.options()
                .withLog(LogOptions.of(LogBench.SHAPE).withFlushMicros(3_600_000_000L));
        try (LogBench bench = LogBench.simulated(SEED, disk, options);
                IngestSession session = bench.log.openSession("s")) {
            disk.onOperation(step -> {
                if (step.kind() != OperationKind.READ && step.kind() != OperationKind.LIST) {
                    cuts.add(new Cut(
                            disk.crashImage(step.index()), bench.log.log().durable()));
                }
            });
            for (int i = 0; i < 1_500; i++) {
                MemorySegment record = LogBench.segment(LogState.event("s", i));
                session.append(record, 0, (int) record.byteSize());
                if (i % 100 == 0) {
                    bench.run(1_000_000); // the newest page is not asked for
                }
            }
            disk.onOperation(step -> {});
        }
        int checked = 0;
        long seen = 0;
        long before = 0;
        for (Cut cut : cuts) {
            if (cut.durable > seen) {
                before = seen;
                seen = cut.durable;
            }
            if (LogBench.SHAPE.pageOf(before) > 0) {
                cut.disk.flipBit("log/00000000.pages", 4_096 + 5_000, 1);
                assertThatThrownBy(() -> countOf(cut.disk))
                        .as("durable to %d", cut.durable)
                        .isInstanceOf(CorruptionException.class);
                checked++;
            }
        }
        assertThat(checked).isGreaterThan(50);
    }
}
