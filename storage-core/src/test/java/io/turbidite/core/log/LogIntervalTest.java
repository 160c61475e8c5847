package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.sim.ForwardingTasks;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;

import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/** What {@link Durability#INTERVAL} bounds, where rests of 100 ms and more end 50 ms late. */
class LogIntervalTest {
    private static final long INTERVAL_MICROS = LogOptions.defaults().intervalMicros();

    /** A step of the writer, of the keeper, and of the test's time. */
    private static final long SLACK_MICROS = 5_000;

    /** As the threads of a process: who rests for long gives its thread back. */
    private static final class LateTasks extends ForwardingTasks {
        LateTasks(SimTasks tasks) {
            super(tasks);
        }

        @Override
        public Worker start(String name, LongSupplier idleMicros, Step step) {
            return super.start(name, () -> late(idleMicros.getAsLong()), step);
        }

        private static long late(long idle) {
            return idle >= 100_000 ? idle + 50_000 : idle;
        }
    }

    private record Written(long sequence, long atMicros) {}

    @Test
    void a_power_cut_loses_no_more_than_an_interval() {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(7, clock);
        SplittableRandom random = new SplittableRandom(7);
        LogOptions options = LogOptions.defaults()
                .withSegmentBytes(64 << 10, 64, 64, 2 << 10)
                .withDurability(Durability.INTERVAL);
        try (WriteAheadLog log = WriteAheadLog.open(
                new LogEnvironment(
                        new SimDisk(7, Profile.STRICT),
                        "log",
                        LogDriver.STORE_ID,
                        new LateTasks(tasks),
                        clock),
                options,
                0,
                (_, _) -> {})) {
            Queue<Written> atRisk = new ArrayDeque<>();
            long now = 0;
            long nextWrite = 0;
            while (now < 20_000_000) {
                if (now >= nextWrite) {
                    Claim claim = log.claim(8);
                    atRisk.add(new Written(claim.sequence(), now));
                    long _ = claim.publish(8);
                    // bursts, and pauses in which the log comes to rest
                    nextWrite = now + (random.nextInt(20) == 0 ? 400_000 : random.nextInt(20_000));
                }
                tasks.runForMicros(1_000);
                now += 1_000;
                while (!atRisk.isEmpty() && atRisk.element().sequence() < log.durableSequence()) {
                    atRisk.remove();
                }
                long oldest = atRisk.isEmpty() ? now : atRisk.element().atMicros();
                long lostMicros = now - oldest;
                assertTrue(
                        lostMicros <= INTERVAL_MICROS + SLACK_MICROS,
                        lostMicros + " us would be lost");
            }
        }
    }
}
