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
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.log.LogSite;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** A thread can't be started while a log is opened: nothing of the opening stays. */
class UnstartedTest {
    private static final long SEED = Seeds.of("UnstartedTest");
    private static final HashLogOptions OPTIONS = LogBench.options();

    /** Tasks of which one worker can't be started. */
    private static final class FewTasks implements Tasks {
        private final SimTasks tasks = new SimTasks(SEED, new SimClock());
        private final int missing;
        private int count;

        FewTasks(int missing) {
            this.missing = missing;
        }

        @Override
        public Worker start(String name, long idleMicros, Step step) {
            if (count++ == missing) {
                throw new OutOfMemoryError("no thread for " + name);
            }
            return tasks.start(name, idleMicros, step);
        }

        @Override
        public void await(BooleanSupplier condition) {
            tasks.await(condition);
        }

        @Override
        public boolean awaitUnlessInterrupted(BooleanSupplier condition) {
            return tasks.awaitUnlessInterrupted(condition);
        }

        @Override
        public void signal() {
            tasks.signal();
        }

        @Override
        public void close() {
            tasks.close();
        }
    }

    /** Opens without each worker in turn, until it is opened. Returns how many were started. */
    private static int tryWithoutEach(@Nullable SimDisk disk, Function<LogSite, HashLog> opening) {
        for (int missing = 0; ; missing++) {
            MemoryBudget budget = MemoryBudget.of(640 << 20);
            FewTasks tasks = new FewTasks(missing);
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
