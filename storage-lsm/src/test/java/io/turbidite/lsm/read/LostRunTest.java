package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.harness.SimStore;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;

/** A run whose layers throw behind its first record: the cursor's place is lost, or as before. */
class LostRunTest {
    private static final long COUNT = 500;

    private final SimStore sim =
            SimStore.open(new SimDisk(7, Profile.STRICT), 7, SimStore.options(Durability.BUFFERED));
    private final Dataset dataset = sim.store.createDataset(
            DatasetSpec.named("T").field("id", "int64").primaryKey("id").partitions(1));
    private final RecordRun run = new RecordRun();
    private ReadView view;
    private RecordCursor records;
    private boolean isStubClosed;

    @BeforeEach
    void open() {
        for (long id = 0; id < COUNT; id++) {
            dataset.upsert(Map.of("id", id));
        }
        dataset.flush();
        view = dataset.openView();
        records = view.scan(0, KeyRange.all(), FilterPredicate.none());
    }

    @AfterEach
    void close() {
        records.close();
        view.close();
        sim.close();
    }

    /** The layers of the scan, which stand open, throw once a method has been called. */
    private void breakLayers(String broken, RuntimeException failure)
            throws ReflectiveOperationException {
        Field stack = PartitionScan.class.getDeclaredField("stack");
        stack.setAccessible(true);
        Field live = SnapshotCursor.class.getDeclaredField("live");
        live.setAccessible(true);
        Object cursor = stack.get(records);
        Object sound = live.get(cursor);
        assertThat(sound).isNotNull();
        Object stub = Proxy.newProxyInstance(
                LostRunTest.class.getClassLoader(),
                new Class<?>[] {EntryCursor.class},
                (self, method, given) -> {
                    isStubClosed |= method.getName().equals("close");
                    try {
                        Object answer = method.invoke(sound, given);
                        if (method.getName().equals(broken)) {
                            throw failure;
                        }
                        return answer;
                    } catch (InvocationTargetException failed) {
                        throw failed.getTargetException();
                    }
                });
        live.set(cursor, stub);
    }

    private long id(int inRun) {
        return new RecordView(dataset.type())
                .wrap(run.record(inRun, new Slice()))
                .getLong(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"showAhead", "skip"})
    void its_place_is_lost_and_the_next_move_throws(String broken) throws Exception {
        assertThat(records.next()).isTrue();
        breakLayers(broken, new IllegalArgumentException("planted"));
        assertThatThrownBy(() -> records.nextRun(run)).hasMessage("planted");
        assertThat(isStubClosed).isTrue();
        for (int again = 0; again < 2; again++) {
            assertThatThrownBy(() -> records.nextRun(run)).hasMessageContaining("seek before");
            assertThatThrownBy(records::next).hasMessageContaining("seek before");
            assertThatThrownBy(records::previous).hasMessageContaining("seek before");
            assertThatThrownBy(records::record).hasMessageContaining("stands on no entry");
        }
        records.seek(Slice.of(dataset.primaryKeySpec().encode(100L)));
        assertThat(records.nextRun(run)).isTrue();
        assertThat(id(0)).isEqualTo(100);
    }

    @Test
    void a_full_cache_behind_the_first_record_lets_the_run_be_read_again() throws Exception {
        assertThat(records.next()).isTrue();
        records.seek(Slice.of(dataset.primaryKeySpec().encode(100L)));
        breakLayers("skip", new CacheFullException(1, 1));
        assertThatThrownBy(() -> records.nextRun(run)).isInstanceOf(CacheFullException.class);
        assertThat(isStubClosed).isTrue();
        long expected = 100;
        while (records.nextRun(run)) {
            for (int i = 0; i < run.count(); i++) {
                assertThat(id(i)).isEqualTo(expected++);
            }
        }
        assertThat(expected).isEqualTo(COUNT);
    }
}
