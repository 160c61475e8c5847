package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
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
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobOperator;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;

/** Jobs that change datasets of a store, against a map, and against power cuts. */
@Timeout(180)
class JobSinkTest {
    private static final long SEED = Seeds.of("JobSinkTest");

    private static Store open(SimDisk disk, SimTasks tasks, SimClock clock, Durability durability) {
        return Store.open(
                disk,
                tasks,
                clock,
                StoreOptions.defaults()
                        .withWriteMemoryBytes(4 << 20)
                        .withCacheBytes(4 << 20)
                        .withDurability(durability));
    }

    private static Dataset create(Store store, String name, Maintenance maintenance) {
        return store.createDataset(DatasetSpec.named(name)
                .field("id", "int64")
                .field("a", "int64")
                .primaryKey("id")
                .filter("a")
                .partitions(2)
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                .index(IndexSpec.btree("by_a", "a")));
    }

    private static JobGraph graph(
            Store store, String kind, String into, String where, List<String> fields) {
        return graph(store, kind, into, where, fields, 2);
    }

    /** Rows of T, changed by an expression, go into a dataset by a sink on some partitions. */
    private static JobGraph graph(
            Store store,
            String kind,
            String into,
            String where,
            List<String> fields,
            int partitions) {
        JobParts parts = JobParts.of(store.datasets()).changing(StoreCatalog.of(store, false));
        return JobGraph.builder(parts)
                .add(JobOperator.of("found", "scan")
                        .with("dataset", "T")
                        .with("where", where)
                        .with("select", fields)
                        .on(2))
                .add(JobOperator.of("change", kind).with("dataset", into).on(partitions))
                .add(JobOperator.of("sum", "group")
                        .with("aggregates", List.of("sum(changed) as n")))
                .add(JobOperator.of("out", "result"))
                .connect(JobConnector.hash("found", "change", "id"))
                .connect(JobConnector.roundRobin("change", "sum"))
                .connect(JobConnector.oneToOne("sum", "out"))
                .build();
    }

    private static long run(Relation job) {
        try (QueryResult rows = job.run()) {
            assertThat(rows.next()).isTrue();
            return Objects.requireNonNullElse((Long) rows.row().get("n"), 0L);
        }
    }

    private static Map<Long, Long> all(Dataset dataset) {
        Map<Long, Long> all = new HashMap<>();
        try (QueryResult rows = Query.on(dataset).run()) {
            rows.forEach(row -> all.put((Long) Objects.requireNonNull(row.get("id")), (Long)
                    Objects.requireNonNull(row.get("a"))));
        }
        return all;
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void a_random_history_is_that_of_a_map(Maintenance maintenance) {
        long seed = Seeds.mix(SEED, maintenance.label().hashCode());
        SplittableRandom random = new SplittableRandom(seed);
        TreeMap<Long, Long> twin = new TreeMap<>();
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(seed, clock);
        try (Store store =
                open(new SimDisk(seed, Profile.STRICT), tasks, clock, Durability.BUFFERED)) {
            Dataset dataset = create(store, "T", maintenance);
            for (long id = 0; id < 50; id++) {
                dataset.upsert(Map.of("id", id, "a", id % 7));
                twin.put(id, id % 7);
            }
            for (int i = 0; i < Tier.count(40, 100, 1_000); i++) {
                step(store, random, twin, random.nextBoolean() ? tasks : null);
                if (random.nextInt(10) == 0) {
                    dataset.flush();
                }
                assertThat(all(dataset)).as(Seeds.replay("JobSinkTest", seed)).isEqualTo(twin);
            }
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private static void step(
            Store store, SplittableRandom random, Map<Long, Long> twin, @Nullable SimTasks tasks) {
        RunOptions options = RunOptions.defaults().toBuilder().tasks(tasks).build();
        long a = random.nextInt(7);
        long shift = random.nextInt(200);
        TreeMap<Long, Long> found = new TreeMap<>(twin);
        found.values().removeIf(one -> one != a);
        switch (random.nextInt(3)) {
            case 0 -> {
                JobGraph graph =
                        graph(store, "upsert", "T", "a = " + a, List.of("id", "a + 1 as a"));
                assertThat(run(JobQuery.of(graph).with(options))).isEqualTo(found.size());
                found.keySet().forEach(id -> twin.put(id, a + 1));
            }
            case 1 -> {
                JobGraph graph = graph(store, "delete", "T", "a = " + a, List.of("id"));
                assertThat(run(JobQuery.of(graph).with(options))).isEqualTo(found.size());
                twin.keySet().removeAll(found.keySet());
            }
            default -> {
                JobQuery job = JobQuery.of(graph(
                                store,
                                "insert",
                                "T",
                                "a = " + a,
                                List.of(
                                        "id + %d as id".formatted(shift),
                                        "%d as a".formatted(shift % 7))))
                        .with(options);
                if (found.keySet().stream().anyMatch(id -> twin.containsKey(id + shift))) {
                    assertThatThrownBy(() -> run(job)).isInstanceOf(DuplicateKeyException.class);
                    // the batch of the other partition may be done, or have been refused too
                    long changed = Objects.requireNonNull(job.changed().get("change"));
                    Map<Long, Long> now = all(store.dataset("T"));
                    assertThat(now.size()).isEqualTo(twin.size() + changed);
                    found.keySet().forEach(id -> {
                        if (now.containsKey(id + shift)) {
                            twin.putIfAbsent(id + shift, shift % 7);
                        }
                    });
                } else {
                    assertThat(run(job)).isEqualTo(found.size());
                    found.keySet().forEach(id -> twin.put(id + shift, shift % 7));
                }
            }
        }
    }

    /** After a power cut in the middle, some batches of a job are there, each whole. */
    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void a_power_cut_leaves_whole_batches(Maintenance maintenance) {
        long seed = Seeds.mix(SEED, 11 + maintenance.label().hashCode());
        int records = 3_000;
        List<SimDisk> images = new ArrayList<>();
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        SimClock clock = new SimClock();
        Store store = open(disk, new SimTasks(seed, clock), clock, Durability.SYNC);
        Dataset from = create(store, "T", Maintenance.EAGER);
        create(store, "Copy", maintenance);
        for (long id = 0; id < records; id++) {
            from.upsert(Map.of("id", id, "a", 1L));
        }
        AtomicLong step = new AtomicLong(seed);
        disk.onOperation(_ -> images.add(disk.crashImage(step.incrementAndGet())));
        assertThat(run(JobQuery.of(graph(store, "insert", "Copy", "a = 1", List.of("id", "a"), 1))))
                .isEqualTo(records);
        disk.onOperation(_ -> {});
        store.close();
        assertThat(images).isNotEmpty();
        TreeSet<Integer> seen = new TreeSet<>();
        for (SimDisk image : images) {
            SimClock later = new SimClock();
            try (Store again = open(image, new SimTasks(seed, later), later, Durability.SYNC)) {
                seen.add(all(again.dataset("Copy")).size());
                assertThat(again.verify().errors()).isEmpty();
            }
        }
        assertThat(seen).isSubsetOf(0, 1_024, 2_048, records).contains(0, 1_024, 2_048);
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"EAGER"})
    void what_is_the_stores_own_is_not_changed(Maintenance maintenance) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(1, clock);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (Store store = open(disk, tasks, clock, Durability.BUFFERED)) {
            create(store, "T", maintenance);
            create(store, "_own", maintenance);
            assertThatThrownBy(() -> graph(store, "upsert", "_own", "a = 1", List.of("id", "a")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "operator 'change': dataset '_own' is the store's own, which jobs don't change");
            JobParts parts = JobParts.of(store.datasets()).changing(StoreCatalog.of(store, true));
            String json =
                    graph(store, "upsert", "T", "a = 1", List.of("id", "a")).toJson();
            assertThatThrownBy(() -> JobGraph.fromJson(json, parts))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("operator 'change': the store is open for reading only");
        }
    }
}
