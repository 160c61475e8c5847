package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
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
    private final TreeMap<String, Written> rows = new TreeMap<>();
    private long records;
    private long moves;
    private long turns;

    /** A value, and when it was written. */
    private record Written(long value, long timestamp) {}

    /** A view, and what it must show. */
    private record Kept(ReadView view, TreeMap<String, Written> rows) {}

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
        assertThat(turns).isPositive();
    }

    /** Eight bytes tell no two of them apart. */
    private static String name(long id) {
        return "flight-%06d".formatted(id);
    }

    private void upsert(Dataset dataset, long id) {
        long value = random.nextLong();
        dataset.upsert(Map.of("id", name(id), "value", value));
        long timestamp = Inside.watermark(Inside.store(dataset));
        rows.put(name(id), new Written(value, timestamp));
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
                check(dataset, view, keys, one.rows().subMap(low, true, high, false));
            }
        }
    }

    private void check(
            Dataset dataset, ReadView view, KeyRange keys, NavigableMap<String, Written> expected) {
        if (random.nextBoolean()) {
            try (RecordCursor cursor = view.scan(0, keys, FilterPredicate.none())) {
                new Ordered(dataset, cursor, expected).check();
            }
            return;
        }
        TreeMap<String, Written> found = new TreeMap<>();
        try (RecordStream stream = view.scanUnordered(0, keys, FilterPredicate.none())) {
            Reader reader = new Reader(dataset, stream);
            while (reader.nextRun()) {
                for (int i = 0; i < run.count(); i++) {
                    String id = reader.id(i);
                    Written last = Objects.requireNonNull(expected.get(id), id);
                    Written one = new Written(reader.value(i), last.timestamp());
                    assertThat(found.put(id, one)).as(id).isNull();
                }
                String id = reader.id(run.count() - 1);
                reader.checkStandsOn(id, Objects.requireNonNull(expected.get(id)));
            }
        }
        assertThat(found).isEqualTo(expected);
    }

    /** Reads by runs, between which others write. */
    private class Reader {
        final Dataset dataset;
        final RecordStream stream;
        private final RecordView record;
        private final Slice bytes = new Slice();

        Reader(Dataset dataset, RecordStream stream) {
            this.dataset = dataset;
            this.stream = stream;
            this.record = new RecordView(dataset.type());
        }

        boolean nextRun() {
            if (!stream.nextRun(run)) {
                return false;
            }
            moves++;
            records += run.count();
            if (random.nextInt(16) == 0) {
                write(dataset);
            }
            if (random.nextInt(200) == 0) {
                dataset.flush();
            }
            return true;
        }

        String id(int inRun) {
            return String.valueOf(record.wrap(run.record(inRun, bytes)).get(0));
        }

        long value(int inRun) {
            return record.wrap(run.record(inRun, bytes)).getLong(1);
        }

        void checkStandsOn(String id, Written written) {
            assertThat(stream.key().toByteArray()).as(id).isEqualTo(key(id));
            assertThat(stream.timestamp()).as(id).isEqualTo(written.timestamp());
            record.wrap(stream.record());
            assertThat(record.get(0)).hasToString(id);
            assertThat(record.getLong(1)).as(id).isEqualTo(written.value());
        }

        byte[] key(String id) {
            return dataset.primaryKeySpec().encode(id);
        }
    }

    /** In order, with turns: some moves back, or a seek, before the next run. */
    private final class Ordered extends Reader {
        private static final int TURNS_MAX = 20;

        private final RecordCursor cursor;
        private final NavigableMap<String, Written> expected;

        /** No id is smaller that comes next. */
        private String from = "";

        private int turnsLeft = TURNS_MAX;

        Ordered(Dataset dataset, RecordCursor cursor, NavigableMap<String, Written> expected) {
            super(dataset, cursor);
            this.cursor = cursor;
            this.expected = expected;
        }

        void check() {
            while (nextRun()) {
                for (int i = 0; i < run.count(); i++) {
                    Map.Entry<String, Written> next = expected.ceilingEntry(from);
                    assertThat(next).as("from %s", from).isNotNull();
                    assertThat(id(i)).isEqualTo(next.getKey());
                    assertThat(value(i)).isEqualTo(next.getValue().value());
                    from = behind(next.getKey());
                }
                String last = id(run.count() - 1);
                checkStandsOn(last, Objects.requireNonNull(expected.get(last)));
                if (turnsLeft > 0 && random.nextInt(4) == 0) {
                    turnsLeft--;
                    turns++;
                    turn(last);
                }
            }
            assertThat(expected.ceilingEntry(from)).isNull();
        }

        private static String behind(String id) {
            return id + "\0";
        }

        private void turn(String last) {
            if (random.nextInt(3) != 0) {
                goBack(last, 1 + random.nextInt(random.nextBoolean() ? 3 : 200));
            }
            if (random.nextBoolean()) {
                String target = name(random.nextInt(IDS));
                cursor.seek(Slice.of(key(target)));
                from = target;
            }
        }

        private void goBack(String last, int times) {
            String at = last;
            for (int i = 0; i < times; i++) {
                Map.Entry<String, Written> before = expected.lowerEntry(at);
                assertThat(cursor.previous()).as("before %s", at).isEqualTo(before != null);
                if (before == null) {
                    from = "";
                    return;
                }
                at = before.getKey();
                checkStandsOn(at, before.getValue());
            }
            from = behind(at);
        }
    }
}
