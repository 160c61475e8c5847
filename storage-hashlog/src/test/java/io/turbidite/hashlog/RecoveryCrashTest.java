package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.hashlog.registry.RegisteredPsf;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Cuts the power at every step of the disk while two sessions ingest and checkpoints, registrations
 * and truncations go on, and again during recovery.
 */
class RecoveryCrashTest {
    private static final long SEED = Seeds.of("RecoveryCrashTest");
    private static final List<String> NAMES = List.of("a", "b");

    /** A moment: what had been promised by then, and what was handed in. */
    private record Cut(
            SimDisk disk,
            long begin,
            long beginWanted,
            List<Long> durable,
            List<Long> serials,
            List<RegisteredPsf> psfs,
            List<Long> deletedDurably,
            List<Long> deleted) {}

    private static HashLogOptions options() {
        return LogBench.options().withTable(6, 16 << 20).withCheckpoints(30_000);
    }

    private final List<Cut> cuts = new ArrayList<>();
    private final List<Long> deleted = new ArrayList<>();
    private final List<Long> deletedDurably = new ArrayList<>();
    private long beginWanted;

    private void run(Profile profile) {
        SimDisk disk = new SimDisk(SEED, profile);
        SplittableRandom random = new SplittableRandom(SEED);
        try (LogBench bench = LogBench.simulated(SEED, disk, options())) {
            List<IngestSession> sessions =
                    NAMES.stream().map(bench.log::openSession).toList();
            disk.onOperation(step -> {
                if (step.kind() != OperationKind.READ && step.kind() != OperationKind.LIST) {
                    cuts.add(new Cut(
                            disk.crashImage(step.index()),
                            bench.log.log().begin(),
                            beginWanted,
                            sessions.stream().map(IngestSession::durableSerial).toList(),
                            sessions.stream().map(IngestSession::serial).toList(),
                            bench.log.registry().psfs(), // steps go on while it closes
                            List.copyOf(deletedDurably),
                            List.copyOf(deleted)));
                }
            });
            int id = bench.register("type");
            for (int i = 0; i < 120; i++) {
                ingest(sessions.get(random.nextInt(2)), 1 + random.nextInt(20));
                switch (random.nextInt(16)) {
                    case 0, 1 -> bench.log.checkpoint();
                    case 2 -> {
                        bench.log.deregister(id);
                        id = bench.register("type");
                    }
                    case 3 -> {
                        bench.log.deregister(id);
                        ingest(sessions.getFirst(), 5);
                        id = bench.register("type");
                    }
                    case 4 -> truncate(bench.log, random);
                    case 6, 7 -> delete(bench.log, random);
                    case 5 -> sessions.get(random.nextInt(2)).awaitDurable();
                    default -> {}
                }
            }
            sessions.forEach(IngestSession::close);
        }
        disk.onOperation(step -> {});
    }

    private void truncate(HashLog log, SplittableRandom random) {
        LogState state = LogState.of(log);
        List<Long> addresses = List.copyOf(state.records().keySet());
        int half = addresses.size() / 2;
        long address = addresses.get(random.nextInt(half + 1));
        beginWanted = Math.max(beginWanted, address);
        boolean durable = address <= log.log().durable();
        log.truncate(address);
        assertThat(!durable || log.log().begin() >= address).isTrue();
    }

    private void delete(HashLog log, SplittableRandom random) {
        List<Long> addresses = List.copyOf(LogState.of(log).records().keySet());
        for (int i = 0; i < 3; i++) {
            long address = addresses.get(random.nextInt(addresses.size()));
            deleted.add(address);
            log.delete(address);
        }
        if (random.nextBoolean()) {
            log.awaitDurable();
            deletedDurably.clear();
            deletedDurably.addAll(deleted);
        }
    }

    private static void ingest(IngestSession session, int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(LogState.event(session.name(), (int) session.serial() + i))
                    .append('\n');
        }
        MemorySegment batch = LogBench.segment(text.toString());
        assertThat(session.ingest(batch, 0, batch.byteSize())).isEqualTo(count);
    }

    @ParameterizedTest
    @EnumSource(Profile.class)
    void after_every_power_cut_sessions_are_prefixes_and_chains_are_complete(Profile profile) {
        run(profile);
        assertThat(cuts).hasSizeGreaterThan(300);
        int opened = 0;
        int stride = Tier.count(4, 1, 1);
        for (int i = 0; i < cuts.size(); i += stride) {
            Cut cut = cuts.get(i);
            if (cut.disk.exists("log/HASHLOG")) {
                check(
                        cut,
                        "%s, %s, cut %d"
                                .formatted(
                                        Seeds.replay(getClass().getSimpleName(), SEED),
                                        profile,
                                        i));
                opened++;
            } else {
                assertThat(cut.durable).containsOnly(0L);
            }
        }
        assertThat(opened).isGreaterThan(cuts.size() / stride / 2);
    }

    private static void check(Cut cut, String what) {
        List<SimDisk> duringRecovery = new ArrayList<>();
        cut.disk.onOperation(step -> {
            if (step.kind() != OperationKind.READ && step.kind() != OperationKind.LIST) {
                duringRecovery.add(cut.disk.crashImage(step.index()));
            }
        });
        LogState first;
        try (LogBench bench = LogBench.reopened(SEED, cut.disk, options())) {
            first = LogState.of(bench.log);
            checkPromises(cut, bench.log, first, what);
            first.checkChains(bench.log, what);
            cut.disk.onOperation(step -> {});
        }
        for (SimDisk disk : duringRecovery) {
            checkSame(disk, first, what + ", cut in recovery");
        }
        checkSame(cut.disk, first, what + ", again");
        goOn(cut.disk, what + ", going on");
        assertThat(cut.disk.openHandleCount()).isZero();
    }

    private static void checkPromises(Cut cut, HashLog log, LogState state, String what) {
        assertThat(state.begin())
                .as(what)
                .isBetween(cut.begin, Math.max(cut.begin, cut.beginWanted));
        for (int s = 0; s < 2; s++) {
            String name = NAMES.get(s);
            List<Integer> numbers = state.numbersOf(name);
            int last = numbers.isEmpty() ? -1 : numbers.getLast();
            if (!numbers.isEmpty()) {
                assertThat(numbers)
                        .as(what)
                        .isEqualTo(IntStream.rangeClosed(numbers.getFirst(), last)
                                .boxed()
                                .toList());
                if (cut.beginWanted == 0) {
                    assertThat(numbers.getFirst()).as(what).isZero();
                }
            }
            if (cut.beginWanted == 0) {
                assertThat(last + 1L).as(what).isBetween(cut.durable.get(s), cut.serials.get(s));
                assertThat(log.recoveredSerial(name))
                        .as(what)
                        .isBetween(cut.durable.get(s), last + 1L);
            }
            assertThat(log.recoveredSerial(name)).as(what).isLessThanOrEqualTo(cut.serials.get(s));
        }
        assertThat(cut.deletedDurably).as(what).noneMatch(state.records()::containsKey);
        List<Long> hidden = new ArrayList<>(state.all().keySet());
        hidden.removeAll(state.records().keySet());
        assertThat(cut.deleted).as(what).containsAll(hidden);
        for (RegisteredPsf psf : cut.psfs) {
            assertThat(state.psfs().size()).as(what).isGreaterThan(psf.id());
        }
        assertThat(state.psfs().stream().filter(RegisteredPsf::active).count())
                .as(what)
                .isLessThanOrEqualTo(1);
        for (RegisteredPsf psf : state.psfs()) {
            if (psf.active()) {
                assertThat(psf.intervals().getLast().isOpen()).as(what).isTrue();
            }
        }
    }

    private static void checkSame(SimDisk disk, LogState first, String what) {
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            LogState state = LogState.of(bench.log);
            assertThat(state).as(what).isEqualTo(first);
            state.checkChains(bench.log, what);
        }
    }

    /** What comes after a recovery is linked to what was before, and survives the next one. */
    private static void goOn(SimDisk disk, String what) {
        LogState after;
        try (LogBench bench = LogBench.reopened(SEED, disk, options());
                IngestSession session = bench.log.openSession("c")) {
            ingest(session, 30);
            after = LogState.of(bench.log);
            after.checkChains(bench.log, what);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            LogState state = LogState.of(bench.log);
            assertThat(state.records()).as(what).isEqualTo(after.records());
            assertThat(state.psfs()).as(what).isEqualTo(after.psfs());
            assertThat(bench.log.recoveredSerial("c")).isEqualTo(30);
            state.checkChains(bench.log, what);
        }
    }
}
