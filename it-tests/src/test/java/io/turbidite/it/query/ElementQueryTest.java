package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.ReadView;
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
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Elements of arrays and nested fields are found by every index as they are by a scan, and as plain
 * loops find them: now and in snapshots, while records change one element of many, are deleted and
 * come again in one batch, and layers are flushed, merged and repaired.
 */
class ElementQueryTest {
    private static final int STEP_COUNT = Tier.count(30, 100, 3_000);
    private static final int KEY_COUNT = 50;
    private static final List<String> WORDS =
            List.of("fog", "snow", "late fog", "ice", "", "x".repeat(300), "x".repeat(300) + "y");

    private SplittableRandom random = new SplittableRandom(0);
    private final TreeMap<Long, Row> model = new TreeMap<>();
    private int rows;
    private int byEntries;

    private record Row(
            long id,
            int score,
            @Nullable List<String> tags,
            @Nullable String lang) {
        List<String> tagList() {
            return Objects.requireNonNullElse(tags, List.of());
        }

        Map<String, @Nullable Object> toMap() {
            Map<String, @Nullable Object> map = new HashMap<>();
            map.put("id", id);
            map.put("score", score);
            map.put("tags", tags);
            if (lang != null) {
                map.put("user", Map.of("lang", lang, "other", id));
            }
            return map;
        }
    }

    /** What a query asks, and what it means. */
    private record Asked(io.turbidite.ops.expr.Predicate predicate, Predicate<Row> test) {}

    /** A snapshot and what it must show. */
    private record Moment(Snapshot snapshot, TreeMap<Long, Row> model) {}

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void an_index_never_changes_an_answer(Maintenance strategy) {
        String test = "ElementQueryTest#an_index_never_changes_an_answer";
        long seed = Seeds.of(test);
        random = new SplittableRandom(Seeds.mix(seed, Seeds.of(strategy.name())));
        try {
            run(strategy, seed);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
        }
        assertThat(rows).as("rows").isGreaterThan(STEP_COUNT);
        assertThat(byEntries).as("by entries alone").isGreaterThan(STEP_COUNT / 10);
    }

    private void run(Maintenance strategy, long seed) {
        SimClock clock = new SimClock();
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        StoreOptions options =
                StoreOptions.defaults().withWriteMemoryBytes(8 << 20).withCacheBytes(8 << 20);
        Maintenance other = strategy.isBlind() ? Maintenance.EAGER : Maintenance.VALIDATION;
        List<Moment> moments = new ArrayList<>();
        Store store = Store.open(disk, new SimTasks(seed, clock), clock, options);
        try {
            Dataset dataset = store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("score", "int32")
                    .field("tags", "[string]?")
                    .field("user", "{lang: string}?")
                    .primaryKey("id")
                    .filter("score")
                    .partitions(2)
                    .maintenance(strategy)
                    .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                    .index(IndexSpec.btree("by_tag", "tags[]"))
                    .index(IndexSpec.btree("by_score_tag", "score", "tags[]")
                            .withMaintenance(other))
                    .index(IndexSpec.btree("by_lang", "user.lang"))
                    .index(IndexSpec.inverted("by_word", "tags[]")));
            for (int step = 0; step < STEP_COUNT; step++) {
                for (int i = random.nextInt(8); i > 0; i--) {
                    write(store, dataset);
                }
                switch (random.nextInt(10)) {
                    case 0, 1 -> dataset.flush();
                    case 2 -> dataset.mergeAll();
                    case 3 -> dataset.repair();
                    case 4 -> moments.add(new Moment(store.openSnapshot(), new TreeMap<>(model)));
                    default -> {}
                }
                ask(() -> Query.on((Source) dataset), model);
                if (!moments.isEmpty()) {
                    Moment moment = moments.get(random.nextInt(moments.size()));
                    try (ReadView view = moment.snapshot().view(dataset)) {
                        ask(() -> Query.on(view), moment.model());
                    }
                }
            }
            moments.forEach(moment -> moment.snapshot().close());
            moments.clear();
            assertThat(store.verify().errors()).isEmpty();
            store.close();
            store = Store.open(disk, new SimTasks(seed, clock), clock, options);
            Dataset opened = store.dataset("T");
            ask(() -> Query.on((Source) opened), model);
            assertThat(store.verify().errors()).isEmpty();
        } finally {
            moments.forEach(moment -> moment.snapshot().close());
            store.close();
        }
    }

    private String word() {
        return WORDS.get(random.nextInt(WORDS.size()));
    }

    private Row row(long id) {
        List<String> tags = new ArrayList<>();
        for (int i = random.nextInt(6); i > 0; i--) {
            tags.add(word());
        }
        return new Row(
                id,
                random.nextInt(20),
                random.nextInt(8) == 0 ? null : tags,
                random.nextInt(4) == 0 ? null : random.nextBoolean() ? "en" : "de");
    }

    /** The same with one element of many changed, or gone, or there twice. */
    private Row changed(Row row) {
        List<String> tags = new ArrayList<>(row.tagList());
        if (tags.isEmpty()) {
            tags.add(word());
        }
        int at = random.nextInt(tags.size());
        switch (random.nextInt(3)) {
            case 0 -> tags.remove(at);
            case 1 -> tags.add(tags.get(at));
            default -> tags.set(at, word());
        }
        int score = random.nextInt(4) == 0 ? random.nextInt(20) : row.score();
        return new Row(row.id(), score, tags, row.lang());
    }

    private void write(Store store, Dataset dataset) {
        long id = random.nextInt(KEY_COUNT);
        Row before = model.get(id);
        int dice = random.nextInt(10);
        if (before == null || dice == 0) {
            put(dataset, row(id));
        } else if (dice < 6) {
            put(dataset, changed(before));
        } else if (dice < 8) {
            dataset.delete(id);
            model.remove(id);
        } else {
            Row again = random.nextBoolean() ? before : changed(before);
            WriteBatch batch = store.newBatch();
            batch.delete(dataset, Slice.of(dataset.primaryKeySpec().encode(id)));
            RecordWriter writer = dataset.newRecordWriter();
            batch.upsert(dataset, writer.write(again.toMap()));
            store.write(batch);
            model.put(id, again);
        }
    }

    private void put(Dataset dataset, Row row) {
        dataset.upsert(row.toMap());
        model.put(row.id(), row);
    }

    private Asked asked() {
        String v = word();
        int low = random.nextInt(20);
        int high = low + random.nextInt(6);
        return switch (random.nextInt(8)) {
            case 0, 1, 2 ->
                new Asked(Predicates.eq("tags[]", v), row -> row.tagList().contains(v));
            case 3 ->
                new Asked(
                        Predicates.range("tags[]", "g", "l"),
                        row -> row.tagList().stream()
                                .anyMatch(t -> t.compareTo("g") >= 0 && t.compareTo("l") <= 0));
            case 4 ->
                new Asked(
                        Predicates.contains("tags[]", "fog"),
                        row -> row.tagList().stream().anyMatch(t -> t.endsWith("fog")));
            case 5 ->
                new Asked(
                        Predicates.contains("tags[]", "Late fog"),
                        row -> row.tagList().contains("late fog"));
            case 6 -> new Asked(Predicates.eq("user.lang", "en"), row -> "en".equals(row.lang()));
            default ->
                new Asked(
                        Predicates.range("score", low, high),
                        row -> row.score() >= low && row.score() <= high);
        };
    }

    private void ask(Supplier<Query> queries, Map<Long, Row> expected) {
        List<Asked> asked = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            asked.add(asked());
        }
        List<Row> matching = expected.values().stream()
                .filter(row -> asked.stream().allMatch(a -> a.test().test(row)))
                .toList();
        rows += matching.size();
        int shape = random.nextInt(4);
        List<String> ways = List.of(
                "",
                "scan",
                "by_tag",
                "by_score_tag",
                "by_lang",
                "by_word",
                "by_tag,by_word",
                "by_lang,by_tag",
                "by_score_tag,by_word");
        for (String way : ways) {
            Query query = queries.get();
            asked.forEach(a -> query.where(a.predicate()));
            if (way.equals("scan")) {
                query.usingScan();
            } else if (way.contains(",")) {
                query.usingIndexes(way.split(","));
            } else if (!way.isEmpty()) {
                query.usingIndex(way);
            }
            try {
                check(query, shape, matching, way);
            } catch (InvalidRequestException e) {
                // an index may not go with the query
                assertThat(way).as(e.getMessage()).startsWith("by_");
            }
        }
    }

    private void check(Query query, int shape, List<Row> matching, String way) {
        List<Map<String, @Nullable Object>> expected = new ArrayList<>();
        switch (shape) {
            case 0 -> {
                query.select("id", "tags[]", "user.lang");
                matching.forEach(row -> {
                    Map<String, @Nullable Object> shown = new LinkedHashMap<>();
                    shown.put("id", row.id());
                    shown.put("tags", row.tags());
                    if (row.lang() != null) {
                        shown.put("user.lang", row.lang());
                    }
                    expected.add(shown);
                });
            }
            case 1 -> {
                query.count();
                expected.add(Map.of("count", (long) matching.size()));
            }
            case 2 -> {
                query.groupBy("tags[]");
                counts(matching, row -> new TreeSet<>(row.tagList()))
                        .forEach((tag, count) ->
                                expected.add(Map.of("tags[]", tag, "count", count)));
            }
            default -> {
                query.groupBy("user.lang");
                counts(matching, row -> new TreeSet<>(List.of(String.valueOf(row.lang()))))
                        .forEach((lang, count) -> {
                            Map<String, @Nullable Object> group = new HashMap<>();
                            group.put("user.lang", lang.equals("null") ? null : lang);
                            group.put("count", count);
                            expected.add(group);
                        });
            }
        }
        List<Map<String, @Nullable Object>> found = new ArrayList<>();
        try (QueryResult result = query.run()) {
            while (result.next()) {
                found.add(new LinkedHashMap<>(result.map()));
            }
            assertThat(found)
                    .as("by '%s' %s", way, result.explain())
                    .containsExactlyInAnyOrderElementsOf(expected);
            String explained = result.explain().toString();
            byEntries += !explained.contains("fetch  ") && way.contains("tag") ? 1 : 0;
        }
    }

    private static Map<String, Long> counts(List<Row> rows, Function<Row, Set<String>> keys) {
        Map<String, Long> counts = new TreeMap<>();
        rows.forEach(row -> keys.apply(row).forEach(key -> counts.merge(key, 1L, Long::sum)));
        return counts;
    }
}
