package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A scan in no order reads a component, and goes on in the one that this was merged into: of that
 * it reads by runs what has timestamps of its band, and later the rest.
 */
class RecordRunBandTest {
    private static final long COUNT = 6_000;

    /** So many neighbours were written together. */
    private static final long BLOCK = 20;

    @Test
    void a_band_that_was_merged_with_another_is_read_by_runs() throws Exception {
        try (SimStore sim = SimStore.open(
                new SimDisk(3, Profile.STRICT), 3, SimStore.options(Durability.BUFFERED))) {
            Dataset dataset = sim.store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("half", "int64")
                    .primaryKey("id")
                    .maintenance(Maintenance.MUTABLE_BITMAP)
                    .mergePolicy(MergePolicySpec.parse("correlated-no-merge"))
                    .partitions(1));
            for (long half = 0; half < 2; half++) {
                for (long id = 0; id < COUNT; id++) {
                    if (half(id) == half) {
                        dataset.upsert(Map.of("id", id, "half", half));
                    }
                }
                dataset.flush();
            }
            try (ReadView view = dataset.openView();
                    RecordStream records =
                            view.scanUnordered(0, KeyRange.all(), FilterPredicate.none())) {
                check(dataset, records);
            }
        }
    }

    private static long half(long id) {
        return id / BLOCK % 2;
    }

    private static void check(Dataset dataset, RecordStream records) throws Exception {
        List<Long> found = new ArrayList<>();
        RecordRun run = new RecordRun();
        assertThat(records.nextRun(run)).isTrue();
        add(dataset, run, found);
        assertThat(found).hasSizeLessThan((int) COUNT / 4);
        dataset.mergeAll();
        boolean isBand = false;
        long moves = 0;
        while (records.nextRun(run)) {
            moves++;
            isBand |= layers(records) instanceof TimestampRangeCursor;
            add(dataset, run, found);
        }
        assertThat(isBand).isTrue();
        // each block is a run, or the end of a page cuts it
        assertThat(moves).isLessThan(3 * COUNT / BLOCK);
        List<Long> expected = new ArrayList<>();
        for (long half = 1; half >= 0; half--) {
            for (long id = 0; id < COUNT; id++) {
                if (half(id) == half) {
                    expected.add(id);
                }
            }
        }
        assertThat(found).isEqualTo(expected);
    }

    /** What the scan reads. */
    private static Object layers(RecordStream records) throws ReflectiveOperationException {
        Field stack = ComponentScan.class.getDeclaredField("stack");
        stack.setAccessible(true);
        Field live = SnapshotCursor.class.getDeclaredField("live");
        live.setAccessible(true);
        return live.get(stack.get(records));
    }

    private static void add(Dataset dataset, RecordRun run, List<Long> found) {
        RecordView record = new RecordView(dataset.type());
        Slice bytes = new Slice();
        for (int i = 0; i < run.count(); i++) {
            found.add(record.wrap(run.record(i, bytes)).getLong(0));
        }
    }
}
