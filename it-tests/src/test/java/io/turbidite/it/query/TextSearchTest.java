package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.text.PlainText;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.Tokenizer;
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
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.plan.QueryRequest;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Whatever is asked of texts by their tokens has one answer: by a scan, by each index that fits,
 * and by plain loops; under every strategy, after updates, flushes and merges.
 */
class TextSearchTest {
    private static final int STEP_COUNT = Tier.count(30, 120, 2_000);
    private static final int KEY_COUNT = 80;
    private static final Map<String, Tokenizer> INDEXES = Map.of(
            "by_word",
            Tokenizer.WORD,
            "by_whole",
            Tokenizer.KEYWORD,
            "by_pair",
            Tokenizer.ngram(2),
            "by_three",
            Tokenizer.ngram(3),
            "by_english",
            Tokenizer.analyzer("english"));
    private static final List<String> WORDS = List.of(
            "late",
            "later",
            "fog",
            "Fogs",
            "caf\u00e9",
            "cafe",
            "\uD801\uDC00\uD801\uDC28",
            "\u0000\u0002a",
            "aaaa");

    /** Beyond what a key holds, and at its edge; each is hundreds of grams. */
    private static final List<String> LONG_WORDS =
            List.of("x".repeat(255), "x".repeat(256), "x".repeat(256) + "y");

    private SplittableRandom random = new SplittableRandom(0);
    private final TreeMap<Long, Map<String, @Nullable Object>> model = new TreeMap<>();

    /** How many questions an index answered, and with how many rows. */
    private int askedCount;

    private int rowCount;
    private int countedByEntries;

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void an_index_never_changes_an_answer(Maintenance strategy) {
        String test = "TextSearchTest#an_index_never_changes_an_answer";
        long seed = Seeds.of(test);
        random = new SplittableRandom(Seeds.mix(seed, Seeds.of(strategy.name())));
        try {
            run(strategy, seed);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
        }
        assertThat(askedCount).isGreaterThan(STEP_COUNT / 2);
        assertThat(rowCount).isGreaterThan(STEP_COUNT);
    }

    private void run(Maintenance strategy, long seed) {
        SimClock clock = new SimClock();
        try (Store store = Store.open(
                new SimDisk(seed, Profile.STRICT),
                new SimTasks(seed, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(8 << 20).withCacheBytes(8 << 20))) {
            DatasetSpec spec = DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("text", "string?")
                    .field("score", "int32")
                    .primaryKey("id")
                    .filter("score")
                    .partitions(2)
                    .maintenance(strategy)
                    .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                    .index(IndexSpec.btree("by_score", "score"));
            for (var index : new TreeMap<>(INDEXES).entrySet()) {
                spec = spec.index(IndexSpec.inverted(index.getKey(), "text")
                        .withParameter("tokenizer", index.getValue().label()));
            }
            Dataset dataset = store.createDataset(spec);
            for (int step = 0; step < STEP_COUNT; step++) {
                for (int i = random.nextInt(10); i > 0; i--) {
                    write(dataset);
                }
                int dice = random.nextInt(8);
                if (dice == 0) {
                    dataset.flush();
                } else if (dice == 1 && step % 5 == 0) {
                    dataset.mergeAll();
                }
                ask(dataset);
                askMost(dataset);
            }
            assertThat(countedByEntries).isPositive();
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
        List<String> words = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            List<String> some = random.nextInt(30) == 0 ? LONG_WORDS : WORDS;
            words.add(some.get(random.nextInt(some.size())));
        }
        return String.join(" ", words);
    }

    private TextQuery query() {
        while (true) {
            List<Tokenizer> tokenizers = new ArrayList<>(INDEXES.values());
            tokenizers.add(Tokenizer.ngram(4));
            Tokenizer tokenizer = tokenizers.get(random.nextInt(tokenizers.size()));
            String text = text();
            int length = random.nextInt(text.codePointCount(0, text.length()) + 1);
            String beginning = text.substring(0, text.offsetByCodePoints(0, length));
            TextQuery query = switch (random.nextInt(5)) {
                case 0 -> new TextQuery.All(tokenizer, text);
                case 1 -> new TextQuery.Any(tokenizer, text);
                case 2 ->
                    new TextQuery.Prefix(
                            random.nextBoolean() ? Tokenizer.WORD : Tokenizer.KEYWORD, beginning);
                case 3 -> new TextQuery.Jaccard(tokenizer, text, (1 + random.nextInt(10)) / 10.0);
                default -> new TextQuery.Distance(text, random.nextInt(4));
            };
            try {
                query.check();
                return query;
            } catch (InvalidRequestException e) {
                assertThat(e).hasMessageContaining("token");
            }
        }
    }

    private static boolean fits(TextQuery query, Tokenizer index) {
        return query instanceof TextQuery.Prefix(Tokenizer by, var _)
                ? by.equals(index)
                : hasFewTerms(query.terms(index));
    }

    /** More are for the scan. */
    private static boolean hasFewTerms(TextQuery.@Nullable Terms terms) {
        return terms != null && terms.tokens().size() <= 256;
    }

    private void ask(Dataset dataset) {
        TextQuery query = query();
        int low = random.nextInt(3) > 0 ? 0 : random.nextInt(30);
        int high = low == 0 ? 29 : low + random.nextInt(6);
        Set<Long> expected = new TreeSet<>();
        for (var record : model.values()) {
            int score = (int) Objects.requireNonNull(record.get("score"));
            if (record.get("text") instanceof String text
                    && PlainText.matches(query, text)
                    && score >= low
                    && score <= high) {
                expected.add((Long) record.get("id"));
            }
        }
        check(asked(dataset, query, low, high).usingScan(), query, expected);
        check(asked(dataset, query, low, high), query, expected);
        INDEXES.forEach((name, tokenizer) -> {
            if (fits(query, tokenizer)) {
                check(asked(dataset, query, low, high).usingIndex(name), query, expected);
                if (low > 0) {
                    String both = name + QueryRequest.AND + "by_score";
                    check(asked(dataset, query, low, high).usingIndex(both), query, expected);
                }
                askedCount++;
                rowCount += expected.size();
            }
        });
    }

    /** The first by how many tokens they have, ties by primary key, whatever the way in. */
    private void askMost(Dataset dataset) {
        Tokenizer tokenizer = new ArrayList<>(INDEXES.values()).get(random.nextInt(INDEXES.size()));
        String wanted = text();
        if (PlainText.tokens(tokenizer, wanted).isEmpty()) {
            return;
        }
        TreeMap<Integer, List<Long>> byCount = new TreeMap<>();
        model.forEach((id, record) -> {
            if (record.get("text") instanceof String text) {
                byCount.computeIfAbsent(
                                PlainText.common(tokenizer, text, wanted), _ -> new ArrayList<>())
                        .add(id);
            }
        });
        byCount.remove(0);
        List<Long> expected = new ArrayList<>();
        byCount.descendingMap().values().forEach(expected::addAll);
        int limit = 1 + random.nextInt(20);
        List<String> ways = new ArrayList<>(List.of("", "scan"));
        INDEXES.forEach((name, of) -> {
            if (of.equals(tokenizer) && PlainText.tokens(of, wanted).size() <= 256) {
                ways.add(name);
            }
        });
        for (String way : ways) {
            Query query =
                    Query.on(dataset).mostTokens("text", tokenizer, wanted).limit(limit);
            query = way.equals("scan")
                    ? query.usingScan()
                    : way.isEmpty() ? query : query.usingIndex(way);
            List<Long> found = new ArrayList<>();
            try (QueryResult result = query.run()) {
                result.forEach(row -> found.add((Long) row.get("id")));
            }
            assertThat(found)
                    .as("%s of '%s' by %s", tokenizer.label(), wanted, way)
                    .isEqualTo(expected.subList(0, Math.min(limit, expected.size())));
        }
    }

    private static Query asked(Dataset dataset, TextQuery query, int low, int high) {
        Query asked = Query.on(dataset).where(new Predicate.Matches("text", query));
        return low == 0 ? asked : asked.where(Predicates.range("score", low, high));
    }

    private void check(Query query, TextQuery asked, Set<Long> expected) {
        if (random.nextInt(3) == 0) {
            try (QueryResult result = query.count().run()) {
                assertThat(result.count())
                        .as("%s%n%s", asked, result.explain())
                        .isEqualTo(expected.size());
                countedByEntries += result.explain().access().contains(" only") ? 1 : 0;
            }
            return;
        }
        int limit = random.nextBoolean() ? Integer.MAX_VALUE : random.nextInt(10);
        List<Long> found = new ArrayList<>();
        try (QueryResult result = query.limit(limit).run()) {
            result.forEach(row -> found.add((Long) row.get("id")));
            String what = "%s%n%s".formatted(asked, result.explain());
            assertThat(found).as(what).doesNotHaveDuplicates();
            assertThat(expected).as(what).containsAll(found);
            assertThat(found).as(what).hasSize(Math.min(limit, expected.size()));
        }
    }
}
