package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.ForwardingTasks;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.hashlog.log.LogSite;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;

/** Workers of a log that nobody writes to rest, and look again soon while something waits. */
class RestTest {
    private static final long SEED = Seeds.of("RestTest");
    private static final long REST_MICROS = 100_000;

    /** Tasks that know how long each worker would rest now. */
    private static final class AskedTasks extends ForwardingTasks {
        private final Map<String, LongSupplier> rests = new HashMap<>();

        AskedTasks(SimTasks tasks) {
            super(tasks);
        }

        @Override
        public Worker start(String name, LongSupplier idleMicros, Step step) {
            rests.put(name, idleMicros);
            return super.start(name, idleMicros, step);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {20_000, REST_MICROS, 5_000_000})
    void who_has_nothing_to_do_rests_as_long_as_a_record_may_wait(long flushMicros) {
        SimClock clock = new SimClock();
        SimTasks simulated = new SimTasks(SEED, clock);
        AskedTasks tasks = new AskedTasks(simulated);
        HashLogOptions options = LogBench.options();
        LogSite site = new LogSite(
                "test",
                LogBench.disk(SEED),
                "log",
                tasks,
                clock,
                MemoryBudget.of(640 << 20),
                new Meters(),
                new StoreEvents());
        try (HashLog log = HashLog.create(
                site,
                options.withLog(options.log().withFlushMicros(flushMicros)),
                LogBench.LOG_ID)) {
            long rest = Math.min(REST_MICROS, flushMicros);
            simulated.runForMicros(300_000);
            assertThat(tasks.rests)
                    .allSatisfy((name, micros) ->
                            assertThat(micros.getAsLong()).as(name).isGreaterThanOrEqualTo(rest));
            LongSupplier flusher = Objects.requireNonNull(tasks.rests.get("hashlog-flush"));
            try (IngestSession session = log.openSession("writer")) {
                session.ingest(LogBench.segment("{}"), 0, 2);
                long tail = log.log().tail();
                assertThat(flusher.getAsLong()).isEqualTo(1_000);
                simulated.runForMicros(flushMicros + rest);
                assertThat(log.log().durable()).isEqualTo(tail);
                assertThat(flusher.getAsLong()).isEqualTo(rest);
            }
        }
        tasks.close();
    }
}
