package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.harness.ReadHook;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

/**
 * A cursor is sought by one thread while another one moves it: the place is the one that was
 * sought.
 */
class SeekInMoveTest {
    private static final long SEED = 43;
    private static final int ROWS = 1_000;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    private Store open(ReadHook hook) {
        return Store.open(
                hook,
                ThreadTasks.create("seek"),
                Clock.system(),
                SimStore.options(Durability.BUFFERED));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Timeout(60)
    void the_place_is_the_one_that_was_sought(boolean end) throws InterruptedException {
        ReadHook hook = new ReadHook(disk);
        try (Store store = open(hook)) {
            Dataset dataset = store.createDataset(Row.spec("T").partitions(1));
            for (long id = 0; id < ROWS; id++) {
                dataset.upsert(new Row(id, "u", 1, null, "b").toMap());
            }
            dataset.flush();
        }
        // nothing is in the cache
        try (Store store = open(hook);
                ReadView view = store.dataset("T").openView();
                RecordCursor cursor = view.scan(0, KeyRange.all(), FilterPredicate.none())) {
            Slice middle = Slice.of(store.dataset("T").primaryKeySpec().encode(ROWS / 2L));
            List<Thread> other = new ArrayList<>();
            hook.inNextRead(() -> {
                Thread thread = Thread.ofPlatform().start(() -> {
                    if (end) {
                        cursor.seekEnd();
                    } else {
                        cursor.seek(middle);
                    }
                });
                other.add(thread);
                // until it is done, or waits for the move that is under way
                while (thread.isAlive() && thread.getState() != Thread.State.TIMED_WAITING) {
                    Thread.onSpinWait();
                }
            });

            assertThat(cursor.next()).isTrue();

            assertThat(other).hasSize(1);
            other.getFirst().join();
            assertThat(cursor.next()).isEqualTo(!end);
            if (!end) {
                assertThat(cursor.key().compareBytes(middle)).isZero();
            }
        }
    }
}
