package io.turbidite.lsm.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.VersionedRecord;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;

/** Writes that depend on what is there, and calls on many records. */
@Timeout(120)
class ConditionalWriteTest {
    private static final long SEED = Seeds.of("ConditionalWriteTest");

    /** All strategies take it. */
    private static final MergePolicySpec POLICY = MergePolicySpec.parse("correlated-tiering");

    private static Map<String, @Nullable Object> row(long id, int score) {
        return new Row(id, "ann" + score % 3, score, null, "b").toMap();
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void a_random_history_is_that_of_a_map(Maintenance maintenance) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        SplittableRandom random = new SplittableRandom(SEED);
        TreeMap<Long, Map<String, @Nullable Object>> oracle = new TreeMap<>();
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.BUFFERED))) {
            Dataset dataset = sim.store.createDataset(
                    Row.spec("T").maintenance(maintenance).partitions(2).mergePolicy(POLICY));
            for (int i = 0; i < 1_500; i++) {
                step(dataset, oracle, random, i);
            }
            List<Long> ids = LongStream.range(-2, 42).boxed().toList();
            assertThat(dataset.getAll(ids))
                    .isEqualTo(ids.stream().map(dataset::get).toList());
            assertThat(dataset.getAll(List.of())).isEmpty();
            KeySpec key = dataset.primaryKeySpec();
            KeyRange range = KeyRange.between(key.encode(10L), true, key.encode(30L), false);
            long inRange = oracle.subMap(10L, 30L).size();
            assertThat(dataset.deleteRange(range)).isEqualTo(inRange);
            assertThat(dataset.deleteRange(range)).isZero();
            oracle.subMap(10L, 30L).clear();
            assertThat(SimStore.rows(dataset).keySet()).isEqualTo(oracle.keySet());
            sim.verify();
        }
    }

    private static void step(
            Dataset dataset,
            Map<Long, Map<String, @Nullable Object>> oracle,
            SplittableRandom random,
            int i) {
        long id = random.nextInt(40);
        Map<String, @Nullable Object> row = row(id, i);
        VersionedRecord there = dataset.getVersioned(id);
        assertThat(there == null).isEqualTo(!oracle.containsKey(id));
        long version = there == null ? 1 : there.version() - random.nextInt(2);
        boolean fits = there != null && there.version() == version;
        switch (random.nextInt(8)) {
            case 0, 1 -> {
                assertThat(dataset.insertIfAbsent(row)).isEqualTo(there == null);
                oracle.putIfAbsent(id, row);
            }
            case 2, 3 -> {
                if (version > 0) {
                    assertThat(dataset.replaceIf(version, row)).isEqualTo(fits);
                    oracle.computeIfPresent(id, (key, old) -> fits ? row : old);
                }
            }
            case 4 -> {
                if (version > 0) {
                    assertThat(dataset.deleteIf(version, id)).isEqualTo(fits);
                    oracle.computeIfPresent(id, (key, old) -> fits ? null : old);
                }
            }
            case 5 -> {
                dataset.compute(old -> old == null ? row : null, id);
                oracle.compute(id, (key, old) -> old == null ? row : null);
            }
            case 6 -> {
                dataset.upsert(row);
                oracle.put(id, row);
            }
            default -> {
                if (random.nextInt(10) == 0) {
                    dataset.flush();
                } else if (random.nextInt(40) == 0) {
                    dataset.mergeAll();
                }
            }
        }
        Map<String, @Nullable Object> expected = oracle.get(id);
        Map<String, @Nullable Object> found = dataset.get(id);
        assertThat(found == null ? null : found.get("score"))
                .isEqualTo(expected == null ? null : expected.get("score"));
    }

    /** Two writers each say which version of row 0 theirs follows: one gets in, whole. */
    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void a_batch_that_follows_another_version_does_nothing(Maintenance maintenance) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        SplittableRandom random = new SplittableRandom(SEED);
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC))) {
            Dataset dataset = sim.store.createDataset(
                    Row.spec("T").maintenance(maintenance).partitions(2).mergePolicy(POLICY));
            WriteBatch batch = sim.store.newBatch();
            RecordWriter writer = dataset.newRecordWriter();
            long version = 0;
            int score = -1;
            for (int i = 0; i < 200; i++) {
                boolean fits = random.nextBoolean();
                batch.clear();
                batch.upsert(dataset, writer.write(row(1 + random.nextInt(20), i)));
                batch.upsert(dataset, writer.write(row(0, i)));
                batch.onlyIf(fits ? version : version + 1 + random.nextInt(9));
                batch.upsert(dataset, writer.write(row(21 + random.nextInt(20), i)));
                sim.store.write(batch);
                assertThat(batch.isRefused()).isEqualTo(!fits);
                assertThat(batch.version() > 0).isEqualTo(fits);
                version = fits ? batch.version() : version;
                score = fits ? i : score;
                VersionedRecord there = dataset.getVersioned(0L);
                assertThat(there == null ? 0 : there.version()).isEqualTo(version);
                int newest = SimStore.rows(dataset).values().stream()
                        .mapToInt(row -> Objects.requireNonNull(row.score()))
                        .max()
                        .orElse(-1);
                assertThat(newest).isEqualTo(score);
                if (random.nextInt(30) == 0) {
                    dataset.flush();
                }
            }
            WriteBatch empty = sim.store.newBatch();
            assertThatThrownBy(() -> empty.onlyIf(0)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> batch.onlyIf(0))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("already");
            sim.verify();
        }
    }

    /** A store whose log takes little at once. */
    @Test
    void a_range_is_deleted_in_batches_that_the_log_takes() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.BUFFERED))) {
            Dataset dataset = sim.store.createDataset(
                    DatasetSpec.named("T").field("id", "string").primaryKey("id"));
            for (int i = 0; i < 300; i++) {
                dataset.upsert(Map.of("id", "%04d".formatted(i) + "k".repeat(900)));
            }
            assertThat(dataset.deleteRange(KeyRange.all())).isEqualTo(300);
            assertThat(dataset.deleteRange(KeyRange.all())).isZero();
        }
    }

    /** No increment is lost, whoever comes in between. */
    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"EAGER", "VALIDATION", "MUTABLE_BITMAP"})
    void counters_that_threads_share_are_right(Maintenance maintenance, @TempDir Path directory)
            throws InterruptedException {
        int each = 400;
        try (Store store = Store.open(directory)) {
            Dataset dataset =
                    store.createDataset(Row.spec("T").maintenance(maintenance).mergePolicy(POLICY));
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 3; t++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < each; i++) {
                        long id = i % 3;
                        dataset.compute(old -> row(id, 1 + scoreOf(old)), id);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            int sum = 0;
            for (Row row : SimStore.rows(dataset).values()) {
                sum += Objects.requireNonNull(row.score());
            }
            assertThat(sum).isEqualTo(3 * each);
        }
    }

    private static int scoreOf(@Nullable Map<String, @Nullable Object> old) {
        return old == null ? 0 : (int) Objects.requireNonNull(old.get("score"));
    }

    @Test
    void wrong_uses_are_refused_and_change_nothing() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC))) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            dataset.upsert(row(1, 1));
            assertThatThrownBy(() -> dataset.replaceIf(0, row(2, 1)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("0 is no version of a record");
            assertThatThrownBy(() -> dataset.deleteIf(-1, 1L))
                    .hasMessageContaining("-1 is no version");
            assertThatThrownBy(() -> dataset.compute(old -> row(2, 1), 1L))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("the new record has the primary key [2], not [1]");
            assertThatThrownBy(() -> dataset.getAll(List.of(List.of(1L, 2L))))
                    .hasMessageContaining("2 values were given");
            assertThatThrownBy(() -> dataset.compute(
                            old -> {
                                throw new IllegalStateException("mine");
                            },
                            1L))
                    .hasMessage("mine");
            assertThat(SimStore.rows(dataset)).hasSize(1);
        }
    }

    @Test
    void a_dataset_is_opened_again_with_its_own_specification_and_no_other() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        DatasetSpec spec = Row.spec("T").maintenance(Maintenance.VALIDATION);
        for (int life = 0; life < 2; life++) {
            try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC))) {
                Dataset dataset = sim.store.openDataset(spec);
                assertThat(sim.store.openDataset(spec)).isSameAs(dataset);
                assertThat(sim.store.openDataset(DatasetSpec.named("T")
                                .field("body", "string")
                                .field("created", "datetime?")
                                .field("score", "int32?")
                                .field("user", "string?")
                                .field("id", "int64")
                                .primaryKey("id")))
                        .isSameAs(dataset);
                assertThatThrownBy(() -> sim.store.openDataset(Row.spec("T")
                                .field("more", "point?")
                                .partitions(3)
                                .maintenance(Maintenance.DELETED_KEY)
                                .index(IndexSpec.btree("by_body", "body"))))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("dataset T in the store in")
                        .hasMessageContaining(
                                "field 'more' is point?, there not declared, which is for life: leave it out")
                        .hasMessageContaining("the number of partitions is 3, there 1")
                        .hasMessageContaining("maintenance is deleted-key, there validation")
                        .hasMessageContaining(
                                "index by_body is not there: create it with store.dataset(\"T\").createIndex(IndexSpec.btree(\"by_body\", \"body\"))");
                assertThatThrownBy(() -> sim.store.openDataset(
                                DatasetSpec.named("T").field("id", "int64").primaryKey("id")))
                        .hasMessageContaining("field 'body' is not declared, there string");
                assertThatThrownBy(() ->
                                sim.store.openDataset(Row.blindSpec("T").primaryKey("id", "body")))
                        .hasMessageContaining("the primary key is [id, body], there [id]");
                dataset.disableIndex("by_user");
                assertThatThrownBy(() -> sim.store.openDataset(spec))
                        .hasMessageContaining(
                                "index by_user is disabled: enable it with store.dataset(\"T\").enableIndex(\"by_user\")");
                dataset.enableIndex("by_user");
            }
        }
    }

    @Test
    void a_record_whose_key_lies_in_a_nested_one_is_computed(@TempDir Path directory) {
        DatasetSpec spec = DatasetSpec.named("Tweets")
                .field("user", "{id: int64, lang: string}")
                .field("count", "int64?")
                .primaryKey("user.lang", "user.id");
        try (Store store = Store.open(directory)) {
            Dataset tweets = store.createDataset(spec);
            Map<String, Object> user = Map.of("id", 1L, "lang", "de");
            for (long count = 1; count <= 3; count++) {
                tweets.compute(
                        old -> Map.of(
                                "user",
                                user,
                                "count",
                                old == null
                                        ? 1L
                                        : 1 + (Long) Objects.requireNonNull(old.get("count"))),
                        "de",
                        1L);
                assertThat(tweets.get("de", 1L)).containsEntry("count", count);
            }
            assertThatThrownBy(() -> tweets.compute(old -> Map.of("user", user), "de", 2L))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining(
                            "the new record has the primary key [de, 1], not [de, 2]");
            assertThat(tweets.compute(old -> null, "de", 1L)).isNull();
            assertThat(tweets.get("de", 1L)).isNull();
        }
    }
}
