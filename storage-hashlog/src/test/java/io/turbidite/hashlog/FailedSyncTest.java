package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;

/**
 * A sync fails for want of space, loses what it was to keep, and the next one succeeds: nothing is
 * acknowledged for that.
 */
class FailedSyncTest {
    private static final long SEED = Seeds.of("FailedSyncTest");
    private static final int BATCH = 120;

    private static void append(IngestSession session, int from) {
        for (int i = from; i < from + BATCH; i++) {
            MemorySegment record = LogBench.segment(LogState.event("s", i));
            session.append(record, 0, (int) record.byteSize());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {".pages", "TAIL"})
    void what_is_acknowledged_after_a_failed_sync_is_there(String file) {
        int checked = 0;
        for (int call = 1; call <= 24; call++) {
            SimDisk disk = new SimDisk(SEED + call, Profile.STRICT);
            FaultScript script = FaultScript.with(Fault.ENOSPC)
                    .on(OperationKind.SYNC)
                    .named(name -> name.contains(file))
                    .call(call);
            try (LogBench bench = LogBench.simulated(SEED + call, disk, LogBench.options());
                    IngestSession session = bench.log.openSession("s")) {
                disk.fault(script);
                for (int batch = 0; batch < 8; batch++) {
                    append(session, batch * BATCH);
                    session.awaitDurable();
                    SimDisk cut = disk.crashImage(call);
                    assertThat(countOf(cut))
                            .as("sync %d of %s, batch %d", call, file, batch)
                            .isEqualTo((batch + 1) * BATCH);
                }
            } catch (StorageException refused) {
                assertThat(refused)
                        .as("sync %d of %s", call, file)
                        .hasMessageContaining("No space");
            }
            checked += (int) script.hitCount();
        }
        assertThat(checked).isGreaterThan(8);
    }

    private static int countOf(SimDisk disk) {
        try (LogBench bench = LogBench.reading(SEED, disk, LogBench.options())) {
            return LogState.of(bench.log).numbersOf("s").size();
        }
    }
}
