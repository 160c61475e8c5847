package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.hashlog.registry.RegisteredPsf;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A process ends while its syncs fail: what it wrote is seen by the next one, and need not be on
 * the disk. Whatever that one shows, and takes, survives a power cut.
 */
@Timeout(300)
class UnsyncedTest {
    private static final long SEED = Seeds.of("UnsyncedTest");
    private static final int SEEDS = Tier.count(4, 12, 60);

    private static int append(IngestSession session, int from, int count) {
        for (int i = from; i < from + count; i++) {
            MemorySegment record = LogBench.segment(LogState.event("s", i));
            session.append(record, 0, (int) record.byteSize());
        }
        return from + count;
    }

    /** What a power cut may leave, and what must be there. */
    private record Cut(SimDisk disk, int from, int to, List<String> psfs, String when) {}

    private static List<String> namesOf(HashLog log) {
        return log.psfs().stream().map(RegisteredPsf::name).toList();
    }

    /** Of a sync from the {@code call}th on. */
    private static FaultScript failing(OperationKind kind, String part, int call) {
        // every name contains the empty one
        return FaultScript.with(Fault.EIO)
                .on(kind)
                .named(name -> name.contains(part))
                .call(call)
                .forever();
    }

    /** What the process does when its syncs begin to fail. */
    enum Doing {
        REGISTERS,
        TRUNCATES,
        APPENDS
    }

    private static void firstLife(SimDisk disk, FaultScript script, int seed, Doing doing) {
        try (LogBench bench = LogBench.simulated(SEED + seed, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            int count = append(session, 0, 300 + seed * 37);
            session.awaitDurable();
            long middle = bench.log.log().durable();
            append(session, count, 200);
            session.awaitDurable();
            disk.fault(script);
            if (doing == Doing.TRUNCATES) {
                bench.log.truncate(middle / 2);
                bench.log.truncate(middle);
            } else {
                if (doing == Doing.REGISTERS) {
                    bench.register("type");
                }
                int next = append(session, count + 200, 40 + seed * 19 % 300);
                session.awaitDurable();
                append(session, next, 600); // a segment more, if none was begun yet
                session.awaitDurable();
            }
        } catch (StorageException failed) {
            assertThat(failed).hasMessageContaining("injected");
        }
        assertThat(script.hitCount()).as("seed %d", seed).isPositive();
        disk.clearFaults();
        disk.processDied();
    }

    private static List<Cut> secondLife(SimDisk disk, int seed) {
        List<Cut> cuts = new ArrayList<>();
        int[] acknowledged = {0, 0};
        List<String> psfs = new ArrayList<>();
        boolean[] isOpen = {false};
        disk.onOperation(step -> {
            if (isOpen[0] && step.kind().isChanging()) {
                for (Profile profile : Profile.values()) {
                    cuts.add(new Cut(
                            disk.crashImage(step.index(), profile),
                            acknowledged[0],
                            acknowledged[1],
                            List.copyOf(psfs),
                            profile + ", " + step));
                }
            }
        });
        try (LogBench bench = LogBench.reopened(SEED + seed, disk, LogBench.options())) {
            List<Integer> numbers = LogState.of(bench.log).numbersOf("s");
            acknowledged[0] = numbers.getFirst();
            acknowledged[1] = numbers.getLast() + 1;
            psfs.addAll(namesOf(bench.log));
            isOpen[0] = true;
            bench.run(200_000);
            try (IngestSession session = bench.log.openSession("s")) {
                for (int i = 0; i < 3; i++) {
                    int next = append(session, acknowledged[1], 10 + i * 120);
                    session.awaitDurable();
                    acknowledged[1] = next;
                    bench.run(100_000);
                }
            }
        }
        disk.onOperation(_ -> {});
        return cuts;
    }

    @ParameterizedTest
    @CsvSource({
        "SYNC, .pages, REGISTERS",
        "SYNC, TAIL, REGISTERS",
        "SYNC, '', REGISTERS",
        "SYNC_DIRECTORY, '', REGISTERS",
        "SYNC_DIRECTORY, '', APPENDS",
        "SYNC, TAIL, TRUNCATES"
    })
    void what_the_next_process_shows_and_takes_survives_a_power_cut(
            OperationKind kind, String part, Doing doing) {
        int checked = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            SimDisk disk = new SimDisk(SEED + seed, List.of(Profile.values()).get(seed % 3));
            FaultScript script = failing(kind, part, 1 + seed % 2);
            firstLife(disk, script, seed, doing);
            for (Cut cut : secondLife(disk, seed)) {
                String what = "seed %d, %s".formatted(seed, cut.when);
                try (LogBench bench = LogBench.reopened(SEED, cut.disk, LogBench.options())) {
                    assertThat(LogState.of(bench.log).numbersOf("s"))
                            .as(what)
                            .contains(cut.from, cut.to - 1)
                            .hasSizeGreaterThanOrEqualTo(cut.to - cut.from);
                    assertThat(namesOf(bench.log)).as(what).containsAll(cut.psfs);
                } catch (StorageException refused) {
                    throw new AssertionError(what, refused);
                }
                checked++;
            }
        }
        assertThat(checked).isGreaterThan(SEEDS * 10);
    }
}
