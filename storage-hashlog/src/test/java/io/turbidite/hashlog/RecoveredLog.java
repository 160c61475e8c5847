package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import java.lang.foreign.MemorySegment;

/** Logs to open again, and what they must then show. Static, without state. */
final class RecoveredLog {
    static final long SEED = Seeds.of("RecoveryTest");

    private RecoveredLog() {}

    static HashLogOptions options() {
        return LogBench.options().withTable(6, 16 << 20);
    }

    static void ingest(IngestSession session, int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(LogState.event(session.name(), (int) session.serial() + i))
                    .append('\n');
        }
        MemorySegment batch = LogBench.segment(text.toString());
        session.ingest(batch, 0, batch.byteSize());
    }

    /** A log with two checkpoints and something behind them. */
    static SimDisk filled() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, options());
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            bench.register("n");
            ingest(session, 300);
            assertThat(bench.log.checkpoint()).isPositive();
            ingest(session, 200);
            assertThat(bench.log.checkpoint()).isPositive();
            ingest(session, 50);
        }
        assertThat(disk.files()).contains("log/00000001.index", "log/00000002.index");
        return disk;
    }

    static LogState stateOf(SimDisk disk) {
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            LogState state = LogState.of(bench.log);
            state.checkChains(bench.log, "reopened");
            assertThat(bench.log.recoveredSerial("s")).isEqualTo(550);
            return state;
        }
    }
}
