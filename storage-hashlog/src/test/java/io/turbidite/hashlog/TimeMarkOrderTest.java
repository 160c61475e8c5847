package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.log.LogSite;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A session is paused while it notes the time, and others go on: queries by time still leave no
 * record out.
 */
class TimeMarkOrderTest {
    private static final long SEED = Seeds.of("TimeMarkOrderTest");

    /** Runs something before the {@code n}-th reading of the time from now. */
    private static final class PausingClock implements Clock {
        private final SimClock clock = new SimClock();
        private Runnable pause = () -> {};
        private int readings = -1;

        @Override
        public long wallMicros() {
            if (readings-- == 0) {
                pause.run();
            }
            return clock.wallMicros();
        }

        @Override
        public long monotonicNanos() {
            return clock.monotonicNanos();
        }
    }

    private static void append(IngestSession session, String text) {
        MemorySegment record = LogBench.segment(text);
        session.append(record, 0, (int) record.byteSize());
    }

    @Test
    void a_pause_at_any_reading_of_the_clock_hides_no_record_from_a_query_by_time() {
        int paused = 0;
        for (int reading = 0; reading < 8; reading++) {
            PausingClock clock = new PausingClock();
            SimTasks tasks = new SimTasks(SEED, clock.clock);
            LogSite site = new LogSite(
                    "test",
                    new SimDisk(SEED, Profile.STRICT),
                    "log",
                    tasks,
                    clock,
                    MemoryBudget.of(64 << 20),
                    new Meters(),
                    new StoreEvents());
            long[] came = {0};
            try (HashLog log = HashLog.create(site, LogBench.options(), 77);
                    IngestSession slow = log.openSession("slow");
                    IngestSession quick = log.openSession("quick")) {
                append(slow, "first");
                tasks.runForMicros(1_000_000);
                clock.pause = () -> {
                    append(quick, "meanwhile");
                    came[0] = clock.clock.wallMicros();
                    tasks.runForMicros(500_000);
                };
                clock.readings = reading;
                append(slow, "slow");
                slow.awaitDurable();
                clock.readings = -1;
                if (came[0] != 0) {
                    append(quick, "last");
                    paused++;
                    assertThat(found(log, LogQuery.all().arrivedBetween(0, came[0])))
                            .as("reading %d", reading)
                            .contains("first", "meanwhile");
                    assertThat(found(log, LogQuery.all().arrivedBetween(came[0], came[0])))
                            .as("reading %d", reading)
                            .contains("meanwhile");
                }
            } finally {
                tasks.close();
            }
        }
        assertThat(paused).isGreaterThan(3);
    }

    private static List<String> found(HashLog log, LogQuery query) {
        List<String> found = new ArrayList<>();
        try (LogCursor cursor = log.find(query)) {
            while (cursor.next()) {
                found.add(LogState.text(cursor));
            }
        }
        return found;
    }
}
