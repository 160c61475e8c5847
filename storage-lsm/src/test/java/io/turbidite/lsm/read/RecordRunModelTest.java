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

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Runs of records in histories of writes, deletes, flushes and merges, at views of now and of
 * before, against a map: what is written, deleted and flushed while a scan stands on a run changes
 * nothing of it.
 */
class RecordRunModelTest {
    private static final long SEED = Long.getLong("turbidite.seed", 5);
    private static final int STEPS = 1_500;
    private static final int IDS = 3_000;

    /** Ids that are written often. */
    private static final int HOT = 1_000;

    private static final int HOT_IDS = 200;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final List<Kept> kept = new ArrayList<>();
    private final RecordRun run = new RecordRun();
    private TreeMap<String, Long> rows = new TreeMap<>();
    private long records;
    private long moves;

    /** A view, and what it must show. */
    private record Kept(ReadView view, TreeMap<String, Long> rows) {}

    @ParameterizedTest
    @CsvSource({
        "EAGER,no-merge",
        "EAGER,tiering",
        "VALIDATION,tiering",
        "DEFERRED,correlated-tiering",
        "MUTABLE_BITMAP,correlated-tiering"
    })
    void runs_show_what_was_written(Maintenance maintenance, String policy) {
        try (SimStore sim = SimStore.open(
                new SimDisk(SEED, Profile.STRICT),
                SEED,
                SimStore.options(Durability.SYNC).withCacheBytes(16 << 20))) {
            Dataset dataset = sim.store.createDataset(DatasetSpec.named("T")
                    .field("id", "string")
                    .field("value", "int64")
                    .primaryKey("id")
                    .maintenance(maintenance)
                    .mergePolicy(MergePolicySpec.parse(policy))
                    .partitions(1));
            for (int id = 0; id < IDS; id++) {
                upsert(dataset, id);
            }
            dataset.flush();
            for (int step = 0; step < STEPS; step++) {
                step(dataset);
            }
            while (!kept.isEmpty()) {
                checkKept(dataset);
            }
        }
        assertThat(records).isGreaterThan(3 * moves);
    }

    /** Eight bytes tell no two of them apart. */
    private static String name(long id) {
        return "flight-%06d".formatted(id);
    }

    private void upsert(Dataset dataset, long id) {
        long value = random.nextLong();
        dataset.upsert(Map.of("id", name(id), "value", value));
        rows.put(name(id), value);
    }

    private void step(Dataset dataset) {
        int what = random.nextInt(1_000);
        if (what < 5) {
            dataset.flush();
        } else if (what < 10) {
            kept.add(new Kept(dataset.openView(), new TreeMap<>(rows)));
        } else if (what < 15 && !kept.isEmpty()) {
            checkKept(dataset);
        } else {
            write(dataset);
        }
    }

    private void write(Dataset dataset) {
        // mostly near one another, so that there is much where nothing was written
        long id = random.nextInt(8) == 0 ? random.nextInt(IDS) : HOT + random.nextInt(HOT_IDS);
        if (random.nextInt(4) == 0) {
            dataset.delete(name(id));
            rows.remove(name(id));
        } else {
            upsert(dataset, id);
        }
    }

    private void checkKept(Dataset dataset) {
        Kept one = kept.remove(random.nextInt(kept.size()));
        try (ReadView view = one.view()) {
            check(dataset, view, KeyRange.all(), one.rows());
            String low = name(random.nextInt(IDS));
            String high = name(random.nextInt(IDS));
            if (low.compareTo(high) < 0) {
                KeyRange keys = KeyRange.of(
                        dataset.primaryKeySpec().encode(low),
                        dataset.primaryKeySpec().encode(high));
                check(dataset, view, keys, one.rows().subMap(low, high));
            }
        }
    }

    private void check(Dataset dataset, ReadView view, KeyRange keys, Map<String, Long> expected) {
        boolean isOrdered = random.nextBoolean();
        TreeMap<String, Long> found = new TreeMap<>();
        RecordView record = new RecordView(dataset.type());
        Slice bytes = new Slice();
        try (RecordStream stream = isOrdered
                ? view.scan(0, keys, FilterPredicate.none())
                : view.scanUnordered(0, keys, FilterPredicate.none())) {
            while (stream.nextRun(run)) {
                moves++;
                if (random.nextInt(16) == 0) {
                    write(dataset);
                }
                if (random.nextInt(200) == 0) {
                    dataset.flush();
                }
                for (int i = 0; i < run.count(); i++) {
                    record.wrap(run.record(i, bytes));
                    String id = String.valueOf(record.get(0));
                    assertThat(found.put(id, record.getLong(1))).as(id).isNull();
                    records++;
                }
            }
        }
        assertThat(found).as("in order: %s", isOrdered).isEqualTo(expected);
    }
}
