package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.ForwardingTasks;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.hashlog.log.LogSite;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.function.Function;
import java.util.function.LongSupplier;

/** A thread can't be started while a log is opened: nothing of the opening stays. */
class UnstartedTest {
    private static final long SEED = Seeds.of("UnstartedTest");
    private static final HashLogOptions OPTIONS = LogBench.options();

    /** Tasks of which one worker can't be started. */
    private static final class FewTasks extends ForwardingTasks {
        private final SimTasks tasks;
        private final int missing;
        private int count;

        FewTasks(SimTasks tasks, int missing) {
            super(tasks);
            this.tasks = tasks;
            this.missing = missing;
        }

        @Override
        public Worker start(String name, LongSupplier idleMicros, Step step) {
            if (count++ == missing) {
                throw new OutOfMemoryError("no thread for " + name);
            }
            return super.start(name, idleMicros, step);
        }
    }

    /** Opens without each worker in turn, until it is opened. Returns how many were started. */
    private static int tryWithoutEach(@Nullable SimDisk disk, Function<LogSite, HashLog> opening) {
        for (int missing = 0; ; missing++) {
            MemoryBudget budget = MemoryBudget.of(640 << 20);
            FewTasks tasks = new FewTasks(new SimTasks(SEED, new SimClock()), missing);
            LogSite site = new LogSite(
                    "test",
                    disk,
                    "log",
                    tasks,
                    new SimClock(),
                    budget,
                    new Meters(),
                    new StoreEvents());
            boolean isOpen = false;
            try (HashLog log = opening.apply(site)) {
                isOpen = true;
                assertThat(log.psfs()).isEmpty();
            } catch (OutOfMemoryError e) {
                assertThat(e).hasMessageStartingWith("no thread for");
            }
            assertThat(tasks.tasks.workerCount()).as("without %d", missing).isZero();
            assertThat(budget.bytesUsed()).as("without %d", missing).isZero();
            tasks.close();
            if (isOpen) {
                return missing;
            }
        }
    }

    @Test
    void a_log_that_lacks_a_thread_is_not_opened_and_leaves_nothing() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        assertThat(tryWithoutEach(disk, UnstartedTest::openedOrMade)).isGreaterThan(4);
        assertThat(tryWithoutEach(disk, UnstartedTest::openedOrMade)).isGreaterThan(4);
        assertThat(tryWithoutEach(disk, site -> HashLog.openForReading(site, OPTIONS)))
                .isGreaterThan(3);
        assertThat(tryWithoutEach(null, UnstartedTest::openedOrMade)).isGreaterThan(1);
    }

    private static HashLog openedOrMade(LogSite site) {
        return HashLog.openOrCreate(site, OPTIONS, LogBench.LOG_ID);
    }
}
