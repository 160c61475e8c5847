package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Groups over an inner join, made of both rows where they lie, beside all pairs on the heap. */
class PairedGroupsTest {
    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private MemorySource authors = newAuthors();
    private MemorySource texts = newTexts();
    private final List<Map<String, @Nullable Object>> pairs = new ArrayList<>();

    private static MemorySource newAuthors() {
        return new MemorySource(
                RecordType.builder()
                        .field("id", "int64")
                        .field("key", "int32?")
                        .field("land", "string?")
                        .field("age", "int16?")
                        .field("pad", "string?")
                        .build(),
                List.of("id"),
                List.of(),
                List.of(),
                1);
    }

    private static MemorySource newTexts() {
        return new MemorySource(
                RecordType.builder()
                        .field("no", "int64")
                        .field("author", "int64?")
                        .field("length", "int32?")
                        .field("score", "double?")
                        .field("kind", "string?")
                        .build(),
                List.of("no"),
                List.of(),
                List.of(),
                2);
    }

    @AfterEach
    void nothing_is_left() {
        assertThat(authors.openCount).hasValue(0);
        assertThat(texts.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
    }

    private static @Nullable Object some(SplittableRandom random, Object value) {
        return random.nextInt(8) == 0 ? null : value;
    }

    private void fill(SplittableRandom random, int authorCount, int textCount) {
        List<Map<String, @Nullable Object>> all = new ArrayList<>();
        for (long id = 0; id < authorCount; id++) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("id", id);
            row.put("key", some(random, random.nextInt(30)));
            row.put("land", some(random, "land" + random.nextInt(5)));
            row.put("age", some(random, (short) random.nextInt(90)));
            row.put("pad", "p".repeat(random.nextInt(200)));
            authors.upsert(row);
            all.add(row);
        }
        pairs.clear();
        for (long no = 0; no < textCount; no++) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("no", no);
            row.put("author", some(random, (long) random.nextInt(40)));
            row.put("length", some(random, random.nextInt(280)));
            row.put("score", some(random, random.nextInt(100) / 4.0));
            row.put("kind", some(random, "k" + random.nextInt(3)));
            texts.upsert(row);
            for (Map<String, @Nullable Object> author : all) {
                Object key = author.get("key");
                Object of = row.get("author");
                if (key instanceof Integer is
                        && of instanceof Long wanted
                        && wanted == is.longValue()) {
                    Map<String, @Nullable Object> pair = new LinkedHashMap<>(author);
                    pair.putAll(row);
                    pairs.add(pair);
                }
            }
        }
    }

    private RunOptions options(boolean isSmall) {
        return isSmall
                ? RunOptions.defaults()
                        .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                        .withSpill(disk, "spill")
                : RunOptions.defaults();
    }

    private record Sums(
            long count,
            long lengths,
            @Nullable Double highest,
            @Nullable Object age) {}

    private Map<String, Sums> expected(List<String> by) {
        Map<String, Sums> groups = new TreeMap<>();
        for (Map<String, @Nullable Object> pair : pairs) {
            List<@Nullable Object> key = new ArrayList<>();
            by.forEach(name -> key.add(pair.get(name)));
            Sums before = groups.getOrDefault(key.toString(), new Sums(0, 0, null, null));
            Double score = (Double) pair.get("score");
            Double highest = before.highest;
            Short age = (Short) pair.get("age");
            Short least = (Short) before.age;
            groups.put(
                    key.toString(),
                    new Sums(
                            before.count + 1,
                            before.lengths
                                    + (pair.get("length") instanceof Integer length ? length : 0),
                            score == null || (highest != null && highest >= score)
                                    ? highest
                                    : score,
                            age == null || (least != null && least <= age) ? least : age));
        }
        return groups;
    }

    private static Map<String, Sums> found(Relation groups, List<String> by) {
        Map<String, Sums> found = new TreeMap<>();
        try (QueryResult rows = groups.run()) {
            for (Map<String, @Nullable Object> row : rows) {
                List<@Nullable Object> key = new ArrayList<>();
                by.forEach(name -> key.add(row.get(name)));
                Object lengths = row.get("sum_length");
                found.put(
                        key.toString(),
                        new Sums(
                                (Long) Objects.requireNonNull(row.get("count")),
                                lengths == null ? 0 : (Long) lengths,
                                (Double) row.get("max_score"),
                                row.get("min_age")));
            }
        }
        return found;
    }

    @Test
    void groups_of_pairs_are_those_of_all_rows() {
        long seed = Seeds.of("PairedGroupsTest");
        SplittableRandom random = new SplittableRandom(seed);
        int spilled = 0;
        long steps = disk.stepCount();
        for (int round = 0; round < Tier.count(6, 20, 400); round++) {
            String as = Seeds.replay("PairedGroupsTest", seed) + " round " + round;
            authors = newAuthors();
            texts = newTexts();
            // either side may be the one that is held
            fill(random, random.nextInt(300), random.nextInt(2_000));
            boolean isSmall = random.nextBoolean();
            boolean isTested = random.nextBoolean();
            List<String> by = BY.get(random.nextInt(BY.size()));
            Join join = Join.inner(Query.on((Source) texts), Query.on((Source) authors))
                    .on("author", "key");
            if (isTested) {
                join = join.where("length > 20 or land = 'land1'");
                pairs.removeIf(
                        pair -> !(pair.get("length") instanceof Integer length && length > 20)
                                && !"land1".equals(pair.get("land")));
            }
            Relation groups = Query.on(join)
                    .groupBy(by.toArray(String[]::new))
                    .aggregate(
                            Aggregate.count(),
                            Aggregate.sum("length"),
                            Aggregate.max("score"),
                            Aggregate.min("age"));
            assertThat(found(groups.with(options(isSmall)), by)).as(as).isEqualTo(expected(by));
            spilled += isSmall && disk.stepCount() > steps ? 1 : 0;
            steps = disk.stepCount();
        }
        assertThat(spilled).isPositive();
    }

    private static final List<List<String>> BY = List.of(
            List.of("land"),
            List.of("kind", "land"),
            List.of("author"),
            List.of("key", "kind"),
            List.of("id", "pad"),
            List.of());
}
