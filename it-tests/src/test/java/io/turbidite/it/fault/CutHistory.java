package io.turbidite.it.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.Seeds;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.WriteBatch;

import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * What a child writes, and what its parent expects: commit number <em>n</em> is a function of seed
 * and <em>n</em>, so the parent knows the state after each without having been told. Each commit is
 * a batch that also notes its number, so a store says itself which prefix it holds. <em>Confined to
 * one thread.</em>
 */
final class CutHistory {
    private static final int KEY_COUNT = 500;
    private static final long NUMBER_KEY = -1;

    private final long seed;
    private final Map<Long, Long> state = new TreeMap<>();
    private long number;

    CutHistory(long seed) {
        this.seed = seed;
    }

    /** The number of the last commit that was found. */
    long number() {
        return number;
    }

    static Dataset dataset(Store store) {
        Dataset found = store.findDataset("T");
        return found != null
                ? found
                : store.createDataset(DatasetSpec.named("T")
                        .field("id", "int64")
                        .field("version", "int64")
                        .field("group", "int32")
                        .primaryKey("id")
                        .index(IndexSpec.btree("by_group", "group")));
    }

    /** Commits number {@code n}. */
    static void commit(Store store, Dataset dataset, long seed, long n) {
        WriteBatch batch = store.newBatch();
        RecordWriter writer = dataset.newRecordWriter();
        batch.upsert(dataset, writer.write(Map.of("id", NUMBER_KEY, "version", n, "group", 0)));
        SplittableRandom random = new SplittableRandom(Seeds.mix(seed, n));
        for (int i = random.nextInt(3); i >= 0; i--) {
            long id = random.nextInt(KEY_COUNT);
            if (random.nextInt(8) == 0) {
                batch.delete(dataset, Slice.of(dataset.primaryKeySpec().encode(id)));
            } else {
                String filler = "f".repeat(random.nextInt(3_000));
                int group = (int) (n % 10);
                batch.upsert(
                        dataset,
                        writer.write(
                                Map.of("id", id, "version", n, "group", group, "filler", filler)));
            }
        }
        store.write(batch);
    }

    /** As {@link #commit} with the map in place of the store; draws the same. */
    private void apply(long n) {
        SplittableRandom random = new SplittableRandom(Seeds.mix(seed, n));
        for (int i = random.nextInt(3); i >= 0; i--) {
            long id = random.nextInt(KEY_COUNT);
            if (random.nextInt(8) == 0) {
                state.remove(id);
            } else {
                random.nextInt(3_000);
                state.put(id, n);
            }
        }
    }

    /**
     * The store holds what some commit left that is no older than {@code acknowledged}, and is
     * sound.
     */
    void check(Store store, long acknowledged, String as) {
        Dataset dataset = dataset(store);
        Map<String, ?> noted = dataset.get(NUMBER_KEY);
        long found = noted == null ? 0 : Objects.requireNonNull((Long) noted.get("version"));
        assertThat(found).as("commits; " + as).isGreaterThanOrEqualTo(acknowledged);
        while (number < found) {
            number++;
            apply(number);
        }
        for (long id = 0; id < KEY_COUNT; id++) {
            Map<String, ?> record = dataset.get(id);
            assertThat(record == null ? null : record.get("version"))
                    .as("key %d after commit %d; %s", id, found, as)
                    .isEqualTo(state.get(id));
        }
        assertThat(store.verify().errors()).as(as).isEmpty();
    }
}
