package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;
import io.turbidite.ops.sql.SqlStatement;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Statements that change, against a map, against other writers, and against power cuts. */
@Timeout(180)
class SqlChangesTwinTest {
    private static final long SEED = Seeds.of("SqlChangesTwinTest");

    /** All strategies take it. */
    private static final MergePolicySpec POLICY = MergePolicySpec.parse("correlated-tiering");

    private static final RunOptions OPTIONS = RunOptions.defaults();

    private record Pet(String name, long a) {}

    private static Store open(SimDisk disk, Durability durability) {
        SimClock clock = new SimClock();
        return Store.open(
                disk,
                new SimTasks(SEED, clock),
                clock,
                StoreOptions.defaults()
                        .withWriteMemoryBytes(4 << 20)
                        .withCacheBytes(4 << 20)
                        .withDurability(durability));
    }

    private static Dataset create(Store store, Maintenance maintenance) {
        return store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("name", "string")
                .field("a", "int64")
                .primaryKey("id")
                .filter("a")
                .partitions(2)
                .maintenance(maintenance)
                .mergePolicy(POLICY)
                .index(IndexSpec.btree("by_a", "a"))
                .index(IndexSpec.btree("by_name", "name")));
    }

    private static Map<String, Object> pet(long id, String name, long a) {
        return Map.of("id", id, "name", name, "a", a, "open", "stays");
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void a_random_history_is_that_of_a_map(Maintenance maintenance) {
        long seed = Seeds.mix(SEED, maintenance.label().hashCode());
        SplittableRandom random = new SplittableRandom(seed);
        TreeMap<Long, Pet> twin = new TreeMap<>();
        try (Store store = open(new SimDisk(seed, Profile.STRICT), Durability.BUFFERED)) {
            Dataset dataset = create(store, maintenance);
            Statements statements = new Statements(Sql.on(StoreCatalog.of(store, false)));
            for (int i = 0; i < Tier.count(100, 250, 4_000); i++) {
                statements.step(random, twin, i);
                if (random.nextInt(20) == 0) {
                    dataset.flush();
                }
                if (random.nextInt(10) == 0) {
                    assertThat(statements.all())
                            .as(Seeds.replay("SqlChangesTwinTest", seed))
                            .isEqualTo(twin);
                }
            }
            assertThat(statements.all()).isEqualTo(twin);
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    /** Each is planned once and run with other values. */
    private static final class Statements {
        private final SqlStatement insert;
        private final SqlStatement upsert;
        private final SqlStatement copy;
        private final SqlStatement add;
        private final SqlStatement rename;
        private final SqlStatement delete;
        private final SqlStatement least;
        private final SqlStatement all;

        Statements(Sql sql) {
            insert = sql.statement("insert into T values (?, ?, ?), (?, ?, ?)");
            upsert = sql.statement("upsert into T (a, id, name) values (?, ?, ?)");
            copy = sql.statement(
                    "insert into T select id + ?, name, a from T where a < ? and id < 100");
            add = sql.statement("update T set a = a + ? where a >= ? and a < ?");
            rename = sql.statement("update T as t set name = ?, a = 0 where mod(t.id, 5) = ?");
            delete = sql.statement("delete from T where name = ? or a = ?");
            least = sql.statement("delete from T where a = (select min(a) from T where id > ?)");
            all = sql.statement("select id, name, a from T");
        }

        Map<Long, Pet> all() {
            TreeMap<Long, Pet> pets = new TreeMap<>();
            try (QueryResult rows = all.run()) {
                rows.forEach(row -> pets.put(
                        (Long) Objects.requireNonNull(row.get("id")),
                        new Pet((String) Objects.requireNonNull(row.get("name")), (Long)
                                Objects.requireNonNull(row.get("a")))));
            }
            return pets;
        }

        void step(SplittableRandom random, NavigableMap<Long, Pet> twin, int i) {
            long id = random.nextInt(60);
            String name = "n" + random.nextInt(8);
            long a = random.nextInt(20);
            switch (random.nextInt(9)) {
                case 0, 1, 2 -> insert(twin, id, id + 1 + random.nextInt(3), name, a);
                case 3, 4 -> {
                    assertThat(upsert.execute(OPTIONS, a, id, name)).isEqualTo(1);
                    twin.put(id, new Pet(name, a));
                }
                case 5 -> {
                    TreeMap<Long, Pet> more = new TreeMap<>();
                    twin.forEach((key, pet) -> {
                        if (pet.a() < 3 && key < 100) {
                            more.put(key + 100L * (i + 1), pet);
                        }
                    });
                    assertThat(copy.execute(OPTIONS, 100L * (i + 1), 3)).isEqualTo(more.size());
                    twin.putAll(more);
                }
                case 6 -> {
                    long found = twin.values().stream()
                            .filter(pet -> pet.a() >= a && pet.a() < a + 5)
                            .count();
                    assertThat(add.execute(OPTIONS, 3, a, a + 5)).isEqualTo(found);
                    twin.replaceAll((key, pet) -> pet.a() >= a && pet.a() < a + 5
                            ? new Pet(pet.name(), pet.a() + 3)
                            : pet);
                }
                case 7 -> {
                    long rest = random.nextInt(5);
                    long found = twin.keySet().stream()
                            .filter(key -> key % 5 == rest)
                            .count();
                    assertThat(rename.execute(OPTIONS, name, rest)).isEqualTo(found);
                    twin.replaceAll((key, pet) -> key % 5 == rest ? new Pet(name, 0) : pet);
                }
                default -> {
                    int before = twin.size();
                    twin.values().removeIf(pet -> pet.name().equals(name) || pet.a() == a);
                    assertThat(delete.execute(OPTIONS, name, a)).isEqualTo(before - twin.size());
                    long least = twin.tailMap(30L, false).values().stream()
                            .mapToLong(Pet::a)
                            .min()
                            .orElse(-1);
                    before = twin.size();
                    twin.values().removeIf(pet -> pet.a() == least);
                    assertThat(this.least.execute(OPTIONS, 30L)).isEqualTo(before - twin.size());
                }
            }
        }

        private void insert(
                NavigableMap<Long, Pet> twin, long first, long second, String name, long a) {
            if (twin.containsKey(first) || twin.containsKey(second)) {
                assertThatThrownBy(() -> insert.execute(OPTIONS, first, name, a, second, name, a))
                        .isInstanceOf(DuplicateKeyException.class)
                        .hasMessageContaining("already has a record with primary key");
                assertThat(insert.changedCount()).isZero();
            } else {
                assertThat(insert.execute(OPTIONS, first, name, a, second, name, a))
                        .isEqualTo(2);
                twin.put(first, new Pet(name, a));
                twin.put(second, new Pet(name, a));
            }
        }
    }

    /** A catalog in which somebody else writes just before each batch. */
    private record Disturbed(Catalog catalog, Runnable other) implements Catalog {
        @Override
        public List<? extends Source> datasets() {
            return catalog.datasets();
        }

        @Override
        public Moment openMoment() {
            return catalog.openMoment();
        }

        @Override
        public DatasetDefinition describe(String dataset) {
            return catalog.describe(dataset);
        }

        @Override
        public void createDataset(DatasetDefinition definition) {
            catalog.createDataset(definition);
        }

        @Override
        public void dropDataset(String dataset) {
            catalog.dropDataset(dataset);
        }

        @Override
        public void createIndex(String dataset, IndexDefinition index) {
            catalog.createIndex(dataset, index);
        }

        @Override
        public void dropIndex(String dataset, String index) {
            catalog.dropIndex(dataset, index);
        }

        @Override
        public ChangeBatch newBatch(Source dataset) {
            ChangeBatch batch = catalog.newBatch(dataset);
            return new ChangeBatch() {
                @Override
                public void insert(Slice record) {
                    batch.insert(record);
                }

                @Override
                public void upsert(Slice record) {
                    batch.upsert(record);
                }

                @Override
                public void delete(Slice primaryKey) {
                    batch.delete(primaryKey);
                }

                @Override
                public int size() {
                    return batch.size();
                }

                @Override
                public boolean hasRoom(int bytes) {
                    return batch.size() < 16 && batch.hasRoom(bytes);
                }

                @Override
                public void clear() {
                    batch.clear();
                }

                @Override
                public void write() {
                    other.run();
                    batch.write();
                }

                @Override
                public BitSet writeIfUnchangedSince(long timestamp) {
                    other.run();
                    return batch.writeIfUnchangedSince(timestamp);
                }
            };
        }
    }

    /**
     * Others count in {@code name} and take records out of what the statement looks for: their
     * counts are all there in the end, and what they took out stays as they left it.
     */
    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void no_later_write_is_lost(Maintenance maintenance) {
        long seed = Seeds.mix(SEED, 7 + maintenance.label().hashCode());
        SplittableRandom random = new SplittableRandom(seed);
        Map<Long, Long> counts = new HashMap<>();
        Map<Long, Long> left = new HashMap<>();
        TreeSet<Long> gone = new TreeSet<>();
        AtomicBoolean isQuiet = new AtomicBoolean();
        int records = 60;
        try (Store store = open(new SimDisk(seed, Profile.STRICT), Durability.BUFFERED)) {
            Dataset dataset = create(store, maintenance);
            for (long id = 0; id < records; id++) {
                dataset.upsert(pet(id, "0", 1));
                counts.put(id, 0L);
            }
            dataset.flush();
            Runnable other = () -> {
                for (int i = 0; i < 3 && !isQuiet.get() && random.nextInt(4) > 0; i++) {
                    long id = random.nextInt(records);
                    int what = random.nextInt(12);
                    dataset.compute(
                            old -> {
                                if (old == null || what == 0) {
                                    gone.add(id);
                                    return null;
                                }
                                Map<String, @Nullable Object> fields = new HashMap<>(old);
                                long count = counts.merge(id, 1L, Long::sum);
                                fields.put("name", "" + count);
                                if (what == 1 && !left.containsKey(id)) {
                                    long taken = -(Long) Objects.requireNonNull(old.get("a"));
                                    fields.put("a", taken);
                                    left.put(id, taken);
                                }
                                return fields;
                            },
                            id);
                }
            };
            Sql sql = Sql.on(new Disturbed(StoreCatalog.of(store, false), other));
            SqlStatement add = sql.statement("update T set a = a + 1 where a > 0");
            long changed = 0;
            for (int i = 0; i < 20; i++) {
                changed += add.execute();
                if (i == 10) {
                    dataset.flush();
                }
            }
            long sum = 0;
            long given = 0;
            for (long id = 0; id < records; id++) {
                Map<String, @Nullable Object> now = dataset.get(id);
                assertThat(now == null).as("%d", id).isEqualTo(gone.contains(id));
                if (now != null) {
                    long a = (Long) Objects.requireNonNull(now.get("a"));
                    assertThat(now.get("name")).isEqualTo("" + counts.get(id));
                    assertThat(now.get("open")).isEqualTo("stays");
                    if (left.containsKey(id)) {
                        assertThat(a).isEqualTo(left.get(id));
                    } else {
                        assertThat(a).isEqualTo(21);
                    }
                    sum += Math.abs(a);
                    given++;
                }
            }
            assertThat(changed).isGreaterThanOrEqualTo(sum - given);
            if (gone.isEmpty()) {
                assertThat(changed).isEqualTo(sum - given);
            }
            // what is no longer to be deleted stays
            SqlStatement delete = sql.statement("delete from T where a > 0");
            long deleted = delete.execute();
            isQuiet.set(true);
            assertThat(deleted).isPositive();
            assertThat(delete.execute()).isZero();
            for (long id : left.keySet()) {
                assertThat(dataset.get(id) == null).as("%d", id).isEqualTo(gone.contains(id));
            }
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    /** As above, but with a thread that writes for its own. */
    @Test
    void a_thread_that_writes_loses_nothing(@TempDir Path directory) throws InterruptedException {
        try (Store store = Store.open(
                directory, StoreOptions.defaults().withDurability(Durability.BUFFERED))) {
            Dataset dataset = create(store, Maintenance.EAGER);
            int records = 40;
            for (long id = 0; id < records; id++) {
                dataset.upsert(pet(id, "0", 1));
            }
            AtomicBoolean ends = new AtomicBoolean();
            AtomicLong count = new AtomicLong();
            Thread other = Thread.ofPlatform().start(() -> {
                SplittableRandom random = new SplittableRandom(SEED);
                while (!ends.get() || count.get() < 200) {
                    dataset.compute(
                            old -> {
                                Map<String, @Nullable Object> fields = new HashMap<
                                        String, @Nullable Object>(Objects.requireNonNull(old));
                                fields.put(
                                        "name",
                                        ""
                                                + (Long.parseLong((String) Objects.requireNonNull(
                                                                old.get("name")))
                                                        + 1));
                                return fields;
                            },
                            (long) random.nextInt(records));
                    count.incrementAndGet();
                }
            });
            SqlStatement add = Sql.on(StoreCatalog.of(store, false))
                    .statement("update T set a = a + 1 where id >= 0");
            try {
                for (int i = 0; i < 30; i++) {
                    assertThat(add.execute()).isEqualTo(records);
                }
            } finally {
                ends.set(true);
                other.join();
            }
            long sum = 0;
            for (long id = 0; id < records; id++) {
                Map<String, @Nullable Object> now = Objects.requireNonNull(dataset.get(id));
                assertThat(now.get("a")).isEqualTo(31L);
                sum += Long.parseLong((String) Objects.requireNonNull(now.get("name")));
            }
            assertThat(sum).isEqualTo(count.get());
        }
    }

    /** After a power cut in the middle, so many batches of a statement are there, each whole. */
    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void a_power_cut_leaves_whole_batches(Maintenance maintenance) {
        long seed = Seeds.mix(SEED, 11 + maintenance.label().hashCode());
        int records = 3_000;
        List<SimDisk> images = new ArrayList<>();
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        Store store = open(disk, Durability.SYNC);
        Dataset dataset = create(store, maintenance);
        for (long id = 0; id < records; id++) {
            dataset.upsert(pet(id, "x", 0));
        }
        dataset.flush();
        AtomicLong step = new AtomicLong();
        disk.onOperation(_ -> images.add(disk.crashImage(step.incrementAndGet())));
        Sql sql = Sql.on(StoreCatalog.of(store, false));
        assertThat(sql.statement("update T set a = a + 1").execute()).isEqualTo(records);
        store.close();
        assertThat(images).isNotEmpty();
        TreeSet<Long> seen = new TreeSet<>();
        for (SimDisk image : images) {
            try (Store again = open(image, Durability.SYNC)) {
                Sql after = Sql.on(StoreCatalog.of(again, false));
                try (QueryResult rows =
                        after.statement("select count(*) n, sum(a) s from T").run()) {
                    Map<String, @Nullable Object> row = rows.toList().getFirst();
                    assertThat(row.get("n")).isEqualTo((long) records);
                    seen.add((Long) Objects.requireNonNull(row.get("s")));
                }
            }
        }
        assertThat(seen).isSubsetOf(0L, 1_024L, 2_048L, 3_000L).contains(0L, 1_024L, 2_048L);
    }
}
