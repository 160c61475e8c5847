package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Queries that several indexes answer together: every set of them that goes with the query gives
 * what plain loops give, with little memory too, of now and of snapshots. Indexes of one dataset
 * differ in their strategies where they may, and some are on the elements of an array; updates
 * leave entries behind, and a filter passes over layers that hide some.
 */
class JoinedQueryTest {
    private static final int STEP_COUNT = Tier.count(20, 100, 2_000);
    private static final int KEY_COUNT = 80;
    private static final List<String> WORDS =
            List.of("late", "fog", "snow", "Ice", "x".repeat(300), "x".repeat(300) + "y");

    private SplittableRandom random = new SplittableRandom(0);
    private final TreeMap<Long, Map<String, @Nullable Object>> model = new TreeMap<>();
    private final List<Moment> moments = new ArrayList<>();
    private int joined;
    private int withoutRecords;
    private int rows;

    /** A snapshot and what it must show. */
    private record Moment(Snapshot snapshot, TreeMap<Long, Map<String, @Nullable Object>> model) {}

    private record Disc(double x, double y, double radius) {}

    /** Both ends included. */
    private record Span(int low, int high) {}

    /** A question; what is null is not asked for. */
    private record Question(
            Shape shape,
            @Nullable Rectangle window,
            @Nullable Disc circle,
            Text text,
            List<String> words,
            @Nullable Span num,
            @Nullable Integer kind,
            @Nullable Span at,
            List<Span> tags) {
        boolean matches(Map<String, @Nullable Object> record) {
            Set<String> has = wordsOf(record.get("text"));
            boolean hasWords = words.isEmpty()
                    || switch (text) {
                        case ALL -> has.containsAll(lower(words));
                        case ANY -> lower(words).stream().anyMatch(has::contains);
                        case PREFIX ->
                            has.stream().anyMatch(word -> word.startsWith(beginning(words)));
                    };
            return (window == null || isIn(window, (Point) record.get("place")))
                    && (circle == null || isNear(circle, (Point) record.get("place")))
                    && hasWords
                    && isBetween(num, record.get("num"))
                    && (kind == null || kind.equals(record.get("kind")))
                    && isBetween(at, record.get("at"))
                    && tags.stream()
                            .allMatch(tag -> elements(record).stream()
                                    .anyMatch(element -> isBetween(tag, element)));
        }

        Query query(Query query) {
            if (window != null) {
                query.where(Predicates.within(
                        "place", window.minX(), window.minY(), window.maxX(), window.maxY()));
            }
            if (circle != null) {
                query.where(Predicates.distance("place", circle.x(), circle.y(), circle.radius()));
            }
            if (!words.isEmpty()) {
                switch (text) {
                    case ALL ->
                        words.forEach(word -> query.where(Predicates.contains("text", word)));
                    case ANY ->
                        query.where(Predicates.containsAny(
                                "text", Tokenizer.WORD, String.join(" ", words)));
                    case PREFIX ->
                        query.where(Predicates.containsPrefix(
                                "text", Tokenizer.WORD, words.getFirst().substring(0, 2)));
                }
            }
            if (num != null) {
                query.where(Predicates.range("num", num.low(), num.high()));
            }
            if (kind != null) {
                query.where(Predicates.eq("kind", kind));
            }
            if (at != null) {
                query.where(Predicates.range("at", at.low(), at.high()));
            }
            for (Span tag : tags) {
                query.where(
                        tag.low() == tag.high()
                                ? Predicates.eq("tags[]", tag.low())
                                : Predicates.range("tags[]", tag.low(), tag.high()));
            }
            return switch (shape) {
                case ROWS -> query;
                case COUNT -> query.count();
                case GROUPS -> query.groupBy("num");
                case CELLS -> query.groupByCell("place", 2, 2);
                case ELEMENTS -> query.groupBy("tags[]");
            };
        }
    }

    /** What is asked of words. */
    private enum Text {
        ALL,
        ANY,
        PREFIX
    }

    private enum Shape {
        ROWS,
        COUNT,
        GROUPS,
        CELLS,
        ELEMENTS
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void indexes_together_never_change_an_answer(Maintenance strategy) {
        String test = "JoinedQueryTest#indexes_together_never_change_an_answer";
        long seed = Seeds.of(test);
        for (int round = 0; round < 3; round++) {
            long ofRound = Seeds.mix(Seeds.mix(seed, Seeds.of(strategy.name())), round);
            random = new SplittableRandom(ofRound);
            model.clear();
            try {
                run(strategy, seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
        }
        // the generator must not have drifted into queries that one index answers
        assertThat(joined).as("joined").isGreaterThan(STEP_COUNT);
        assertThat(withoutRecords).as("without records").isGreaterThan(STEP_COUNT / 10);
        assertThat(rows).as("rows").isGreaterThan(STEP_COUNT);
    }

    private void run(Maintenance strategy, long seed) {
        SimClock clock = new SimClock();
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        SimDisk spills = new SimDisk(seed + 1, Profile.STRICT);
        try (Store store = Store.open(
                disk,
                new SimTasks(seed, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(8 << 20).withCacheBytes(8 << 20))) {
            Dataset dataset = store.createDataset(spec(strategy));
            for (int step = 0; step < STEP_COUNT; step++) {
                change(store, dataset);
                boolean isNow = moments.isEmpty() || random.nextBoolean();
                if (isNow) {
                    ask(dataset, null, model, spills);
                } else {
                    Moment moment = moments.get(random.nextInt(moments.size()));
                    try (ReadView view = moment.snapshot().view(dataset)) {
                        ask(dataset, view, moment.model(), spills);
                    }
                }
            }
            moments.forEach(moment -> moment.snapshot().close());
            moments.clear();
        }
        assertThat(spills.openHandleCount()).isZero();
        if (spills.exists("spill")) {
            assertThat(spills.list("spill")).as("runs left").isEmpty();
        }
    }

    private DatasetSpec spec(Maintenance strategy) {
        boolean isCorrelated = strategy == Maintenance.MUTABLE_BITMAP
                || strategy == Maintenance.DEFERRED
                || random.nextBoolean();
        List<Maintenance> possible = strategy == Maintenance.MUTABLE_BITMAP
                ? List.of(Maintenance.VALIDATION, Maintenance.DELETED_KEY, Maintenance.AUTO)
                : isCorrelated
                        ? List.of(
                                Maintenance.EAGER,
                                Maintenance.VALIDATION,
                                Maintenance.DELETED_KEY,
                                Maintenance.DEFERRED,
                                Maintenance.AUTO)
                        : List.of(
                                Maintenance.EAGER, Maintenance.VALIDATION, Maintenance.DELETED_KEY);
        boolean isMixed = random.nextBoolean();
        DatasetSpec spec = DatasetSpec.named("T")
                .field("id", "int64")
                .field("place", "point?")
                .field("text", "string?")
                .field("num", "int32?")
                .field("kind", "int32?")
                .field("at", "int32?")
                .field("tags", "[int32]?")
                .primaryKey("id")
                .partitions(1 + random.nextInt(3))
                .maintenance(strategy)
                .mergePolicy(
                        MergePolicySpec.parse(isCorrelated ? "correlated-tiering" : "tiering"));
        if (random.nextInt(3) > 0) {
            spec.filter("at");
        }
        for (IndexSpec index : List.of(
                IndexSpec.rtree("by_place", "place"),
                IndexSpec.inverted("by_text", "text"),
                IndexSpec.btree("by_num", "num"),
                random.nextBoolean()
                        ? IndexSpec.btree("by_kind", "kind")
                        : IndexSpec.btree("by_kind", "kind", "tags[]"),
                IndexSpec.btree("by_tag", "tags[]"))) {
            spec.index(
                    isMixed
                            ? index.withMaintenance(possible.get(random.nextInt(possible.size())))
                            : index);
        }
        return spec;
    }

    private void change(Store store, Dataset dataset) {
        for (int i = random.nextInt(25); i > 0; i--) {
            write(dataset);
        }
        switch (random.nextInt(20)) {
            case 0, 1, 2, 3, 4 -> dataset.flush();
            case 5 -> dataset.mergeAll();
            case 6, 7 -> {
                if (dataset.indexes().stream().anyMatch(index -> !index.alwaysValid())) {
                    dataset.repair();
                }
            }
            case 8, 9 -> moments.add(new Moment(store.openSnapshot(), new TreeMap<>(model)));
            case 10, 11 -> {
                if (!moments.isEmpty()) {
                    moments.remove(random.nextInt(moments.size())).snapshot().close();
                }
            }
            default -> {}
        }
    }

    private void write(Dataset dataset) {
        long id = random.nextInt(KEY_COUNT);
        if (random.nextInt(8) == 0) {
            dataset.delete(id);
            model.remove(id);
            return;
        }
        Map<String, @Nullable Object> former = model.get(id);
        Map<String, @Nullable Object> record =
                former == null ? new HashMap<>() : new HashMap<>(former);
        record.put("id", id);
        for (String field : List.of("place", "text", "num", "kind", "at", "tags")) {
            // an update mostly changes few fields: eager indexes then keep entries of old versions
            if (former == null || random.nextInt(3) == 0) {
                record.put(field, random.nextInt(8) == 0 ? null : value(field));
            }
        }
        dataset.upsert(record);
        model.put(id, record);
    }

    private Object value(String field) {
        return switch (field) {
            case "place" -> new Point(coordinate(), coordinate());
            case "text" -> String.join(" ", words(random.nextInt(5)));
            case "num" -> random.nextInt(8);
            case "kind" -> random.nextInt(3);
            case "tags" -> random.ints(random.nextInt(5), 0, 6).boxed().toList();
            default -> random.nextInt(40);
        };
    }

    private double coordinate() {
        return random.nextInt(-12, 13) / 2.0;
    }

    private List<String> words(int count) {
        List<String> words = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            words.add(WORDS.get(random.nextInt(WORDS.size())));
        }
        return words;
    }

    private Question question() {
        double x = coordinate();
        double y = coordinate();
        int num = random.nextInt(8);
        int at = random.nextInt(40);
        return new Question(
                Shape.values()[random.nextInt(Shape.values().length)],
                random.nextInt(4) == 0
                        ? null
                        : new Rectangle(x, y, x + random.nextInt(9), y + random.nextInt(9)),
                random.nextInt(6) > 0 ? null : new Disc(y, x, 1 + random.nextInt(6)),
                Text.values()[random.nextInt(Text.values().length)],
                random.nextBoolean() ? List.of() : words(1 + random.nextInt(2)),
                random.nextBoolean() ? null : new Span(num, num + random.nextInt(4)),
                random.nextBoolean() ? null : (Integer) random.nextInt(3),
                random.nextInt(3) > 0 ? null : new Span(at, at + random.nextInt(20)),
                tags());
    }

    /** Each may be met by an element of its own. */
    private List<Span> tags() {
        List<Span> tags = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            int tag = random.nextInt(6);
            tags.add(new Span(tag, tag + (random.nextBoolean() ? 0 : random.nextInt(3))));
        }
        return tags;
    }

    private void ask(
            Dataset dataset,
            @Nullable ReadView view,
            Map<Long, Map<String, @Nullable Object>> records,
            SimDisk spills) {
        Question question = question();
        List<String> expected = expected(question, records);
        RunOptions options = switch (random.nextInt(3)) {
            case 0 -> RunOptions.defaults();
            case 1 -> RunOptions.defaults().withSpill(spills, "spill");
            default ->
                RunOptions.defaults()
                        .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                        .withKeyBatchBytes(4 << 10)
                        .withSpill(spills, "spill");
        };
        for (List<String> access : accesses(dataset)) {
            Query query =
                    question.query(view == null ? Query.on((Source) dataset) : Query.on(view));
            switch (access.size()) {
                case 0 -> {}
                case 1 -> query.usingIndex(access.getFirst());
                default -> query.usingIndexes(access.toArray(String[]::new));
            }
            try (QueryResult result = query.with(options).run()) {
                List<String> found = new ArrayList<>();
                for (Map<String, @Nullable Object> row : result) {
                    found.add(show(question, row));
                }
                Collections.sort(found);
                assertThat(found).as("%s%n%s", question, result.explain()).isEqualTo(expected);
                rows += found.size();
                if (access.size() > 1) {
                    joined++;
                    withoutRecords += result.explain().access().contains("then fetch") ? 0 : 1;
                }
            } catch (InvalidRequestException e) {
                assertThat(e).hasMessageContaining("no equality or range");
                assertThat(access).isNotEmpty();
            }
        }
    }

    /** The planner's choice, and all sets of indexes. */
    private static List<List<String>> accesses(Dataset dataset) {
        List<String> names =
                dataset.indexes().stream().map(IndexDescription::name).toList();
        List<List<String>> accesses = new ArrayList<>();
        for (int some = 0; some < 1 << names.size(); some++) {
            List<String> together = new ArrayList<>();
            for (int i = 0; i < names.size(); i++) {
                if ((some >> i & 1) != 0) {
                    together.add(names.get(i));
                }
            }
            accesses.add(together);
        }
        return accesses;
    }

    private static List<String> expected(
            Question question, Map<Long, Map<String, @Nullable Object>> records) {
        List<Map<String, @Nullable Object>> matching =
                records.values().stream().filter(question::matches).toList();
        if (question.shape() == Shape.ROWS) {
            return matching.stream()
                    .map(record -> Objects.toString(record.get("id")))
                    .sorted()
                    .toList();
        }
        Map<String, Long> counts = new TreeMap<>();
        if (question.shape() == Shape.COUNT) {
            counts.put("", 0L);
        }
        for (Map<String, @Nullable Object> record : matching) {
            if (question.shape() == Shape.ELEMENTS) {
                new HashSet<>(elements(record))
                        .forEach(tag -> counts.merge(tag.toString(), 1L, Long::sum));
                continue;
            }
            String group = switch (question.shape()) {
                case ROWS, COUNT, ELEMENTS -> "";
                case GROUPS -> Objects.toString(record.get("num"));
                case CELLS -> cell(question.window(), (Point) record.get("place"));
            };
            counts.merge(group, 1L, Long::sum);
        }
        return counts.entrySet().stream()
                .map(group -> group.getKey() + ": " + group.getValue())
                .sorted()
                .toList();
    }

    private static String cell(@Nullable Rectangle window, @Nullable Point place) {
        if (place == null) {
            return "null";
        }
        double x = window == null ? 0 : window.minX();
        double y = window == null ? 0 : window.minY();
        return "%s %s"
                .formatted(
                        x + 2 * Math.floor((place.x() - x) / 2),
                        y + 2 * Math.floor((place.y() - y) / 2));
    }

    private static String show(Question question, Map<String, @Nullable Object> row) {
        if (question.shape() == Shape.ROWS) {
            return Objects.toString(row.get("id"));
        }
        String group = switch (question.shape()) {
            case ROWS, COUNT -> "";
            case GROUPS -> Objects.toString(row.get("num"));
            case ELEMENTS -> Objects.toString(row.get("tags[]"));
            case CELLS ->
                row.get("cell") instanceof Rectangle cell
                        ? cell.minX() + " " + cell.minY()
                        : "null";
        };
        return group + ": " + row.get("count");
    }

    private static boolean isIn(Rectangle window, @Nullable Point place) {
        return place != null
                && place.x() >= window.minX()
                && place.x() <= window.maxX()
                && place.y() >= window.minY()
                && place.y() <= window.maxY();
    }

    private static boolean isNear(Disc circle, @Nullable Point place) {
        return place != null
                && Math.hypot(place.x() - circle.x(), place.y() - circle.y()) <= circle.radius();
    }

    private static boolean isBetween(@Nullable Span range, @Nullable Object value) {
        return range == null
                || (value instanceof Integer number
                        && number >= range.low()
                        && number <= range.high());
    }

    private static List<Object> elements(Map<String, @Nullable Object> record) {
        return record.get("tags") instanceof List<?> tags ? List.copyOf(tags) : List.of();
    }

    private static String beginning(List<String> words) {
        return lower(words).getFirst().substring(0, 2);
    }

    private static List<String> lower(List<String> words) {
        return words.stream().map(word -> word.toLowerCase(Locale.ROOT)).toList();
    }

    private static Set<String> wordsOf(@Nullable Object text) {
        return text instanceof String words
                ? new HashSet<>(lower(Arrays.asList(words.split(" "))))
                : Set.of();
    }
}
