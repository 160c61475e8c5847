package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Words are found by an inverted index as they are by a scan, and as plain loops find them: with
 * other predicates, counted, grouped, cut by a limit, and after updates, flushes and merges.
 */
class ContainsQueryTest {
    private static final int STEP_COUNT = Tier.count(40, 150, 3_000);
    private static final int KEY_COUNT = 120;
    private static final List<String> WORDS =
            List.of("late", "fog", "snow", "café", "Ice", "x".repeat(300), "x".repeat(300) + "y");

    private SplittableRandom random = new SplittableRandom(0);
    private final TreeMap<Long, Map<String, @Nullable Object>> model = new TreeMap<>();

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void an_index_never_changes_an_answer(Maintenance strategy) {
        String test = "ContainsQueryTest#an_index_never_changes_an_answer";
        long seed = Seeds.of(test);
        random = new SplittableRandom(Seeds.mix(seed, Seeds.of(strategy.name())));
        try {
            run(strategy, seed);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
        }
    }

    private void run(Maintenance strategy, long seed) {
        SimClock clock = new SimClock();
        try (Store store = Store.open(
                new SimDisk(seed, Profile.STRICT),
                new SimTasks(seed, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(8 << 20).withCacheBytes(8 << 20))) {
            Dataset dataset = store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("text", "string?")
                    .field("score", "int32")
                    .primaryKey("id")
                    .filter("score")
                    .partitions(2)
                    .maintenance(strategy)
                    .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                    .index(IndexSpec.btree("by_score", "score"))
                    .index(IndexSpec.inverted("by_word", "text")));
            for (int step = 0; step < STEP_COUNT; step++) {
                for (int i = random.nextInt(12); i > 0; i--) {
                    write(dataset);
                }
                int dice = random.nextInt(8);
                if (dice == 0) {
                    dataset.flush();
                } else if (dice == 1 && step % 5 == 0) {
                    dataset.mergeAll();
                }
                ask(dataset);
            }
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private void write(Dataset dataset) {
        long id = random.nextInt(KEY_COUNT);
        if (random.nextInt(4) == 0) {
            dataset.delete(id);
            model.remove(id);
            return;
        }
        Map<String, @Nullable Object> record = new HashMap<>();
        record.put("id", id);
        record.put("score", random.nextInt(30));
        if (random.nextInt(10) > 0) {
            record.put("text", text());
        }
        dataset.upsert(record);
        model.put(id, record);
    }

    private String text() {
        StringBuilder text = new StringBuilder(random.nextInt(5) == 0 ? "" : "the");
        for (int i = random.nextInt(4); i > 0; i--) {
            text.append(' ').append(WORDS.get(random.nextInt(WORDS.size())));
        }
        return text.toString();
    }

    private static Set<String> words(@Nullable Object text) {
        Set<String> words = new TreeSet<>();
        if (text instanceof String given) {
            for (String word : given.split(" ", -1)) {
                words.add(word.toLowerCase(java.util.Locale.ROOT));
            }
        }
        return words;
    }

    private void ask(Dataset dataset) {
        String wanted = random.nextInt(4) == 0 ? "the" : WORDS.get(random.nextInt(WORDS.size()));
        if (random.nextBoolean()) {
            wanted += ", " + WORDS.get(random.nextInt(WORDS.size()));
        }
        int low = random.nextBoolean() ? 0 : random.nextInt(30);
        int high = low == 0 ? 29 : low + random.nextInt(6);
        Set<Long> expected = new TreeSet<>();
        Map<Object, Long> groups = new TreeMap<>();
        for (var record : model.values()) {
            int score = (int) java.util.Objects.requireNonNull(record.get("score"));
            if (words(record.get("text")).containsAll(words(wanted.replace(",", "")))
                    && score >= low
                    && score <= high) {
                expected.add((Long) record.get("id"));
                groups.merge(score, 1L, Long::sum);
            }
        }
        List<String> ways = new ArrayList<>(List.of("by_word", "", "by_score"));
        for (String way : ways) {
            Query query = Query.on(dataset).where(Predicates.contains("text", wanted));
            if (low > 0 || way.equals("by_score")) {
                query.where(Predicates.range("score", low, high));
            }
            if (!way.isEmpty()) {
                query.usingIndex(way);
            } else if (random.nextBoolean()) {
                query.usingScan();
            }
            check(query, way, expected, groups);
        }
    }

    private void check(Query query, String way, Set<Long> expected, Map<Object, Long> groups) {
        switch (random.nextInt(3)) {
            case 0 -> {
                List<Long> found = new ArrayList<>();
                int limit = random.nextInt(20);
                boolean isLimited = random.nextBoolean();
                try (QueryResult result = (isLimited ? query.limit(limit) : query).run()) {
                    result.forEach(row -> found.add((Long) row.get("id")));
                    if (way.equals("by_word") && !(isLimited && limit == 0)) {
                        assertThat(result.explain().toString())
                                .contains("by_word (inverted) on text, ");
                    }
                }
                assertThat(found).doesNotHaveDuplicates();
                assertThat(expected).as(way).containsAll(found);
                assertThat(found)
                        .hasSize(isLimited ? Math.min(limit, expected.size()) : expected.size());
            }
            case 1 -> {
                try (QueryResult result = query.count().run()) {
                    assertThat(result.count()).as(way).isEqualTo(expected.size());
                }
            }
            default -> {
                Map<Object, Long> found = new TreeMap<>();
                try (QueryResult result = query.groupBy("score").run()) {
                    result.forEach(row ->
                            found.put(java.util.Objects.requireNonNull(row.get("score")), (Long)
                                    row.get("count")));
                }
                assertThat(found).as(way).isEqualTo(groups);
            }
        }
    }
}
