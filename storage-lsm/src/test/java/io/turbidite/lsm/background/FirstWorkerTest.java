package io.turbidite.lsm.background;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.ForwardingTasks;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.harness.Step;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schedule.BackgroundOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The first of several workers is at work, and wakes the others, while these are being started. */
@Timeout(60)
class FirstWorkerTest {
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC)
            .withBackground(BackgroundOptions.defaults().withMergeWorkers(3));

    private final SimDisk disk = new SimDisk(31, Profile.STRICT);

    @Test
    void a_merge_that_waits_when_the_store_opens_breaks_nothing() {
        try (Store store = open(new IdleMerges(ThreadTasks.create("before")))) {
            Dataset dataset = store.createDataset(Row.spec("T")
                    .mergePolicy(MergePolicySpec.parse(
                            "tiering(sizeRatio=1.2, mergeCountMin=2, mergeableBytesMax=1GiB)")));
            for (long id = 0; id < 6; id++) {
                dataset.upsert(new Row(id, "anna", 1, null, "a").toMap());
                dataset.flush();
            }
        }
        StartedAmid amid = new StartedAmid(ThreadTasks.create("amid"));
        try (Store store = open(amid)) {
            Dataset dataset = store.dataset("T");
            assertThat(amid.sawWake).isTrue();
            dataset.upsert(new Row(6, "anna", 1, null, "a").toMap());
            dataset.flush();
            dataset.mergeAll();
            assertThat(SimStore.rows(dataset)).hasSize(7);
        }
    }

    private Store open(Tasks tasks) {
        return Store.open(disk, tasks, Clock.system(), OPTIONS);
    }

    /** Merges are never begun, so that some are due at the next opening. */
    private record IdleMerges(Tasks tasks) implements ForwardingTasks {
        @Override
        public Worker start(String name, long idleMicros, Step step) {
            return tasks.start(name, idleMicros, name.startsWith("merge") ? () -> false : step);
        }
    }

    /** The second worker is started while the first one is in the midst of waking all. */
    private static final class StartedAmid implements ForwardingTasks {
        private final Tasks tasks;
        private final CountDownLatch waking = new CountDownLatch(1);
        private final CountDownLatch secondIsThere = new CountDownLatch(1);
        private volatile boolean sawWake;

        StartedAmid(Tasks tasks) {
            this.tasks = tasks;
        }

        @Override
        public Tasks tasks() {
            return tasks;
        }

        @Override
        public Worker start(String name, long idleMicros, Step step) {
            if (name.equals("merge-1")) {
                sawWake = reached(waking);
            } else if (name.equals("merge-2")) {
                secondIsThere.countDown();
            }
            Worker worker = tasks.start(name, idleMicros, step);
            return name.equals("merge-0") ? ForwardingTasks.onWake(worker, this::amid) : worker;
        }

        private void amid() {
            waking.countDown();
            reached(secondIsThere);
        }

        private static boolean reached(CountDownLatch latch) {
            try {
                return latch.await(20, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
