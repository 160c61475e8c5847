package io.turbidite.hashlog;

import static io.turbidite.hashlog.RecoveredLog.SEED;
import static io.turbidite.hashlog.RecoveredLog.filled;
import static io.turbidite.hashlog.RecoveredLog.ingest;
import static io.turbidite.hashlog.RecoveredLog.options;
import static io.turbidite.hashlog.RecoveredLog.stateOf;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Each operation of the disk fails, while a log is written and while it is opened again. */
class FailingRecoveryTest {
    private static FaultScript script(int call, boolean forever) {
        FaultScript script = FaultScript.with(Fault.EIO).call(call);
        return forever ? script.forever() : script;
    }

    @Test
    void each_failing_operation_of_ingestion_and_checkpoint_costs_nothing_durable() {
        int call = 1;
        for (boolean hit = true; hit; call++) {
            hit = false;
            for (boolean forever : new boolean[] {false, true}) {
                SimDisk disk = new SimDisk(SEED, Profile.STRICT);
                FaultScript script = disk.fault(script(call, forever));
                int durable = workOn(disk);
                hit |= script.hitCount() > 0;
                disk.clearFaults();
                String what = "call %d, forever %b".formatted(call, forever);
                assertThat(disk.openHandles()).as(what).isEmpty();
                SimDisk cut = disk.crashImage(call);
                if (cut.exists("log/HASHLOG")) {
                    try (LogBench bench = LogBench.reopened(SEED, cut, options())) {
                        LogState state = LogState.of(bench.log);
                        assertThat(state.numbersOf("s"))
                                .as(what)
                                .hasSizeGreaterThanOrEqualTo(durable);
                        state.checkChains(bench.log, what);
                    }
                } else {
                    assertThat(durable).as(what).isZero();
                }
            }
        }
        assertThat(call).isGreaterThan(80);
    }

    /** The durable serial; whatever fails is told as a storage exception. */
    private static int workOn(SimDisk disk) {
        int durable = 0;
        try (LogBench bench = LogBench.simulated(SEED, disk, options());
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            for (int i = 0; i < 6; i++) {
                ingest(session, 20);
                session.awaitDurable();
                durable = (int) session.durableSerial();
                bench.log.checkpoint();
            }
        } catch (StorageException expected) {
            assertThat(expected).hasMessageNotContaining("null");
        }
        return durable;
    }

    @Test
    void each_failing_operation_of_a_recovery_is_told_and_the_next_one_works() {
        SimDisk disk = filled();
        LogState whole = stateOf(disk.copy());
        int call = 1;
        for (boolean hit = true; hit; call++) {
            hit = false;
            for (boolean forever : new boolean[] {false, true}) {
                SimDisk copy = disk.copy();
                FaultScript script = copy.fault(script(call, forever));
                try (LogBench bench = LogBench.reopened(SEED, copy, options())) {
                    copy.clearFaults();
                    assertThat(LogState.of(bench.log)).isEqualTo(whole);
                } catch (StorageException expected) {
                    assertThat(expected).hasMessageNotContaining("null");
                }
                hit |= script.hitCount() > 0;
                copy.clearFaults();
                assertThat(copy.openHandles()).as("call %d", call).isEmpty();
                assertThat(stateOf(copy)).as("call %d", call).isEqualTo(whole);
            }
        }
        assertThat(call).isGreaterThan(20);
    }

    @Test
    void a_checkpoint_that_fails_is_told_and_counted_and_ingestion_goes_on() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        disk.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.WRITE, OperationKind.SYNC)
                .named(name -> name.contains("index"))
                .forever());
        try (LogBench bench = LogBench.simulated(SEED, disk, options().withCheckpoints(20_000));
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            List<StoreEvent> told = new ArrayList<>();
            bench.events.listen(told::add);
            for (int i = 0; i < 20; i++) {
                ingest(session, 20);
                session.awaitDurable();
                AtomicInteger polls = new AtomicInteger();
                bench.tasks.await(() -> polls.incrementAndGet() > 60);
            }
            assertThat(bench.meters
                            .scope("log", "test")
                            .counter("hashlog.checkpoint.failures")
                            .sum())
                    .isPositive();
            assertThat(told)
                    .anyMatch(event -> event instanceof StoreEvent.Failed(var _, String what, var _)
                            && what.equals("index checkpoint of log test"));
        }
        assertThat(disk.openHandles()).isEmpty();
    }
}
