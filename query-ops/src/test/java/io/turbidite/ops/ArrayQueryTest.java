package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.plan.QueryRequest;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
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
import java.util.stream.LongStream;

/** Conditions on elements of arrays and on nested fields, by every way in, as told in Java. */
class ArrayQueryTest {
    private static final String TEST = "ArrayQueryTest#every_way_in_gives_what_java_tells";
    private static final List<String> WORDS = List.of("a", "ab", "b", "c", "");

    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("c", "string?")
            .field("tags", "[string]?")
            .field("n", "[int32]?")
            .field("u", "{lang: string?, tags: [string]?}?")
            .build();

    /** A record as Java has it; what is null is null, missing, or lies in what is. */
    private record Row(
            long id,
            @Nullable String c,
            @Nullable List<String> tags,
            @Nullable List<Integer> n,
            boolean hasUser,
            @Nullable String lang,
            @Nullable List<String> userTags) {
        Map<String, @Nullable Object> toMap() {
            Map<String, @Nullable Object> map = new LinkedHashMap<>();
            map.put("id", id);
            map.put("c", c);
            map.put("tags", tags);
            map.put("n", n);
            if (hasUser) {
                Map<String, @Nullable Object> user = new LinkedHashMap<>();
                user.put("lang", lang);
                user.put("tags", userTags);
                map.put("u", user);
            }
            return map;
        }

        List<String> tagList() {
            return Objects.requireNonNullElse(tags, List.of());
        }

        List<Integer> numbers() {
            return Objects.requireNonNullElse(n, List.of());
        }

        List<String> userTagList() {
            return Objects.requireNonNullElse(userTags, List.of());
        }
    }

    private record Condition(String text, Predicate<Row> test) {}

    private final SplittableRandom random;

    ArrayQueryTest() {
        this.random = new SplittableRandom(Seeds.of(TEST));
    }

    private String word() {
        return WORDS.get(random.nextInt(WORDS.size()));
    }

    private List<String> words() {
        List<String> words = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            words.add(word());
        }
        return words;
    }

    private Row row(long id) {
        boolean hasUser = random.nextInt(4) > 0;
        List<Integer> numbers = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            numbers.add(random.nextInt(-3, 6));
        }
        return new Row(
                id,
                random.nextInt(4) == 0 ? null : word(),
                random.nextInt(5) == 0 ? null : words(),
                random.nextInt(5) == 0 ? null : numbers,
                hasUser,
                hasUser && random.nextInt(4) > 0 ? word() : null,
                hasUser && random.nextInt(4) > 0 ? words() : null);
    }

    private static IndexDescription index(String name, boolean alwaysValid, String... fields) {
        boolean isMultiValued = List.of(fields).stream().anyMatch(f -> f.endsWith("[]"));
        return new IndexDescription(
                name,
                IndexDescription.Kind.BTREE,
                List.of(fields),
                alwaysValid,
                KeyForm.CURRENT,
                isMultiValued,
                Map.of());
    }

    private MemorySource source(Map<Long, Row> rows) {
        boolean alwaysValid = random.nextBoolean();
        MemorySource source = new MemorySource(
                TYPE,
                List.of("id"),
                random.nextBoolean() ? List.of("c") : List.of(),
                List.of(
                        index("by_tag", alwaysValid, "tags[]"),
                        index("by_c_tag", alwaysValid, "c", "tags[]"),
                        index("by_tag_c", alwaysValid, "tags[]", "c"),
                        index("by_n", alwaysValid, "n[]"),
                        index("by_user_tag", alwaysValid, "u.tags[]", "id"),
                        index("by_lang", alwaysValid, "u.lang")),
                1 + random.nextInt(3));
        for (int i = 0; i < 150; i++) {
            long id = random.nextInt(60);
            Row before = rows.get(id);
            if (before != null && random.nextInt(6) == 0) {
                source.delete(id);
                rows.remove(id);
            } else {
                Row row = row(id);
                source.upsert(row.toMap());
                rows.put(id, row);
            }
        }
        return source;
    }

    private Condition onTexts(String field, Function<Row, List<String>> elements) {
        String v = word();
        String w = word();
        return switch (random.nextInt(10)) {
            case 0, 1, 2 ->
                new Condition(field + " = '" + v + "'", r -> elements.apply(r).contains(v));
            case 3 ->
                new Condition(
                        field + " != '" + v + "'",
                        r -> !elements.apply(r).isEmpty() && !elements.apply(r).contains(v));
            case 4 ->
                new Condition(
                        "not (" + field + " in ('" + v + "', '" + w + "'))",
                        r -> !elements.apply(r).isEmpty()
                                && !elements.apply(r).contains(v)
                                && !elements.apply(r).contains(w));
            case 5 ->
                new Condition(
                        field + " in ('" + v + "', '" + w + "')",
                        r -> elements.apply(r).contains(v) || elements.apply(r).contains(w));
            case 6 ->
                new Condition(
                        field + " >= '" + v + "'",
                        r -> elements.apply(r).stream().anyMatch(t -> t.compareTo(v) >= 0));
            case 7 ->
                new Condition(
                        field + " < '" + v + "'",
                        r -> elements.apply(r).stream().anyMatch(t -> t.compareTo(v) < 0));
            case 8 ->
                new Condition(
                        field + " ^= '" + v + "'",
                        r -> elements.apply(r).stream().anyMatch(t -> t.startsWith(v)));
            default ->
                random.nextBoolean()
                        ? new Condition(
                                field + " is not null", r -> !elements.apply(r).isEmpty())
                        : new Condition(field + " is null", _ -> false);
        };
    }

    private Condition condition() {
        int number = random.nextInt(-4, 7);
        String v = word();
        return switch (random.nextInt(10)) {
            case 0, 1, 2, 3 -> onTexts("tags[]", Row::tagList);
            case 4 -> onTexts("u.tags[]", Row::userTagList);
            case 5 ->
                new Condition(
                        "n[] > " + number + ".5",
                        r -> r.numbers().stream()
                                .anyMatch(n -> n > Double.parseDouble(number + ".5")));
            case 6 -> new Condition("n[] = " + number, r -> r.numbers().contains(number));
            case 7 -> new Condition("c = '" + v + "'", r -> v.equals(r.c()));
            case 8 ->
                switch (random.nextInt(4)) {
                    case 0 -> new Condition("tags is null", r -> r.tags() == null);
                    case 1 -> new Condition("u is not null", Row::hasUser);
                    case 2 -> new Condition("u.lang = '" + v + "'", r -> v.equals(r.lang()));
                    default -> new Condition("u.lang is null", r -> r.lang() == null);
                };
            default -> {
                Condition one = onTexts("tags[]", Row::tagList);
                Condition other = random.nextBoolean()
                        ? onTexts("tags[]", Row::tagList)
                        : new Condition("n[] = " + number, r -> r.numbers().contains(number));
                yield new Condition(
                        "(" + one.text() + " or " + other.text() + ")",
                        one.test().or(other.test()));
            }
        };
    }

    @Test
    void every_way_in_gives_what_java_tells() {
        int foundCount = 0;
        int entriesCount = 0;
        for (int round = 0; round < Tier.count(4, 25, 2_000); round++) {
            Map<Long, Row> rows = new TreeMap<>();
            MemorySource source = source(rows);
            for (int i = 0; i < 60; i++) {
                List<Condition> conditions = new ArrayList<>();
                for (int c = random.nextInt(4); c > 0; c--) {
                    conditions.add(condition());
                }
                List<Row> matching = rows.values().stream()
                        .filter(row ->
                                conditions.stream().allMatch(c -> c.test().test(row)))
                        .toList();
                foundCount += matching.size();
                source.estimateFactor = Math.pow(10, random.nextInt(-2, 3));
                int shape = random.nextInt(5);
                for (String access : accesses(source)) {
                    try {
                        entriesCount += check(source, conditions, matching, shape, access);
                    } catch (InvalidRequestException e) {
                        assertThat(e).hasMessageContaining("has no equality or range");
                    } catch (RuntimeException | AssertionError e) {
                        throw new AssertionError(
                                "%s by '%s': %s of %s%n%s"
                                        .formatted(
                                                conditions,
                                                access,
                                                matching,
                                                e.getMessage(),
                                                Seeds.replay(TEST, Seeds.of(TEST))),
                                e);
                    }
                }
            }
        }
        assertThat(foundCount).isGreaterThan(1_000);
        // counts and groups by entries alone are among them
        assertThat(entriesCount).isGreaterThan(10);
    }

    private static List<String> accesses(MemorySource source) {
        List<String> accesses = new ArrayList<>(List.of("", QueryRequest.SCAN));
        source.indexes().forEach(index -> accesses.add(index.name()));
        return accesses;
    }

    /** Returns 1 if the answer came from the entries of a multi-valued index alone. */
    private static int check(
            MemorySource source,
            List<Condition> conditions,
            List<Row> matching,
            int shape,
            String access) {
        Query query = Query.on(source);
        conditions.forEach(condition -> query.where(condition.text()));
        if (access.equals(QueryRequest.SCAN)) {
            query.usingScan();
        } else if (!access.isEmpty()) {
            query.usingIndex(access);
        }
        List<String> expected = new ArrayList<>();
        switch (shape) {
            case 0 -> {
                query.count();
                expected.add("{count=%d}".formatted(matching.size()));
            }
            case 1 -> {
                query.groupBy("tags[]");
                groups(matching, r -> new TreeSet<>(r.tagList()))
                        .forEach((tag, count) ->
                                expected.add("{tags[]=%s, count=%d}".formatted(tag, count)));
            }
            case 2 -> {
                query.groupBy("c", "u.tags[]");
                groups(matching, r -> {
                            TreeSet<String> keys = new TreeSet<>();
                            r.userTagList()
                                    .forEach(tag -> keys.add((r.c() == null ? " null" : r.c())
                                            + ", u.tags[]=" + tag));
                            return keys;
                        })
                        .forEach((key, count) ->
                                expected.add("{c=%s, count=%d}".formatted(key.strip(), count)));
            }
            case 3 -> {
                query.select("id", "u.lang", "tags[]");
                matching.forEach(r -> expected.add(shown(r)));
            }
            default -> {
                query.select("id")
                        .orderBy("u.lang", Order.DESC)
                        .orderBy("id", Order.ASC)
                        .limit(7);
                matching.stream()
                        .sorted((a, b) -> {
                            String x = a.lang() == null ? "" : "x" + a.lang();
                            String y = b.lang() == null ? "" : "x" + b.lang();
                            int order = y.compareTo(x);
                            return order != 0 ? order : Long.compare(a.id(), b.id());
                        })
                        .limit(7)
                        .forEach(r -> expected.add("{id=%d}".formatted(r.id())));
            }
        }
        List<String> found = new ArrayList<>();
        try (QueryResult result = query.run()) {
            while (result.next()) {
                found.add(result.map().toString());
            }
            if (shape < 3 && shape != 2) {
                assertThat(found).as("%s", result.explain()).isEqualTo(expected);
            } else if (shape == 4) {
                assertThat(found).isEqualTo(expected);
            } else {
                assertThat(found)
                        .as("%s", result.explain())
                        .containsExactlyInAnyOrderElementsOf(expected);
            }
            String access0 = result.explain().toString();
            boolean isEntries = access0.contains("tags[]") && !access0.contains("fetch");
            return isEntries && !access0.contains("scan") ? 1 : 0;
        }
    }

    private static String shown(Row row) {
        Map<String, @Nullable Object> shown = new LinkedHashMap<>();
        shown.put("id", row.id());
        if (row.hasUser()) {
            shown.put("u.lang", row.lang());
        }
        shown.put("tags", row.tags());
        return shown.toString();
    }

    private static Map<String, Integer> groups(List<Row> rows, Function<Row, Set<String>> keys) {
        Map<String, Integer> groups = new TreeMap<>();
        rows.forEach(row -> keys.apply(row).forEach(key -> groups.merge(key, 1, Integer::sum)));
        return groups;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            tags = 'a'                  | 'tags' is an array; any of its elements is 'tags[]'
            u = 'a'                     | 'u' is a nested record
            not (tags[] < 'b')          | 'not' has no meaning for 'tags[] < "b"'
            not (c = 'x' and n[] >= 3)  | 'not' has no meaning for 'n[] >= 3'
            tags[] = c                  | 'tags[]' compares with constants alone
            lower(tags[]) = 'a'         | 'tags[]' compares with constants alone
            lower(tags) = 'a'           | 'tags' is an array
            n[] = 'x'                   | field 'n[]' is of type int32
            c[] = 'x'                   | field 'c[]', which is not declared
            u.x = 'x'                   | field 'u.x', which is not declared
            """)
    void whatHasNoMeaningIsRefused(String condition, String reason) {
        MemorySource source = source(new TreeMap<>());
        assertThatThrownBy(() -> Query.on(source).where(condition).run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void windows_without_a_common_place_are_met_by_two_elements() {
        MemorySource source = new MemorySource(
                RecordType.builder()
                        .field("id", "int64")
                        .field("way", "[point]")
                        .build(),
                List.of("id"),
                List.of(),
                List.of(),
                1);
        source.upsert(Map.of("id", 1L, "way", List.of(new Point(0, 0), new Point(9, 9))));
        source.upsert(Map.of("id", 2L, "way", List.of(new Point(0, 0))));
        try (QueryResult rows = Query.on(source)
                .where(Predicates.within("way[]", 0, 0, 1, 1))
                .where("within(way[], 8, 8, 9, 9)")
                .select("id")
                .run()) {
            assertThat(rows.toList()).containsExactly(Map.of("id", 1L));
        }
    }

    /** One of two elements is not worth a search: the records say whether they have it. */
    @Test
    void an_element_that_is_joined_says_nothing_of_another_one() {
        MemorySource source = new MemorySource(
                TYPE,
                List.of("id"),
                List.of(),
                List.of(index("by_tag", true, "tags[]"), index("by_c", true, "c")),
                1);
        for (long id = 0; id < 3_000; id++) {
            source.upsert(Map.of(
                    "id",
                    id,
                    "c",
                    "c" + id % 100,
                    "tags",
                    List.of("t" + id % 90, id % 900 < 450 ? "even" : "odd")));
        }
        Query query = Query.on(source)
                .where(Predicates.eq("c", "c7"))
                .where(Predicates.eq("tags[]", "t7"))
                .where(Predicates.eq("tags[]", "even"))
                .count();
        long expected = LongStream.range(0, 3_000)
                .filter(id -> id % 100 == 7 && id % 90 == 7 && id % 900 < 450)
                .count();
        try (QueryResult result = query.run()) {
            assertThat(result.explain().access()).isEqualTo("indexes by_c and by_tag, then fetch");
            assertThat(result.toList()).containsExactly(Map.of("count", expected));
        }
    }

    @Test
    void anArrayIsNoKeyOfRows() {
        MemorySource source = source(new TreeMap<>());
        assertThatThrownBy(() -> Query.on(source).groupBy("tags").run())
                .hasMessageContaining("group names 'tags', an array; its elements are 'tags[]'");
        assertThatThrownBy(() -> Query.on(source).groupBy("tags[]", "n[]").run())
                .hasMessageContaining("two arrays, 'tags[]' and 'n[]'");
        assertThatThrownBy(() -> Query.on(source).groupBy("u").run())
                .hasMessageContaining("group names 'u', a nested record");
        assertThatThrownBy(() -> Query.on(source).orderBy("tags[]", Order.ASC).run())
                .hasMessageContaining("order names 'tags[]', the elements of an array");
        assertThatThrownBy(() -> Query.on(source).near("tags[]", 0, 0).limit(1).run())
                .hasMessageContaining("near names 'tags[]', the elements of an array");
        assertThatThrownBy(() -> Query.on(source).select("u", "u.lang").run())
                .hasMessageContaining("select names field 'u.lang' twice, as 'u' too");
        assertThatThrownBy(() -> Query.on(source)
                        .where(Predicates.eq("tags", List.of("a")))
                        .run())
                .hasMessageContaining("'tags' is an array; any of its elements is 'tags[]'");
    }
}
