package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.scan.ReadView;
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
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.Order;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.PreparedQuery;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Random queries, asked plainly and prepared, over a store that is written, flushed, merged and
 * given other indexes in between: each answer is what a model of plain maps gives, of now and of
 * snapshots, and its rows stay when the result and the store are closed.
 */
class QueryAnswersTest {
    private static final int STEP_COUNT = Tier.count(60, 250, 4_000);
    private static final int KEY_COUNT = 150;
    private static final List<String> NAMES =
            List.of("ann", "bob", "", "späť", "carol-with-a-longer-name");

    /** A question; its values are drawn anew each time. */
    private record Shape(
            List<String> eq,
            List<String> range,
            List<String> select,
            List<String> order,
            long limit) {
        Query query(Query query, List<@Nullable Object> values) {
            int at = 0;
            for (String field : eq) {
                query.where(Predicates.eq(field, values.get(at++)));
            }
            for (String field : range) {
                query.where(Predicates.range(field, values.get(at++), values.get(at++)));
            }
            for (String by : order) {
                query.orderBy(by.substring(1), by.startsWith("-") ? Order.DESC : Order.ASC);
            }
            query.select(select);
            return limit < 0 ? query : query.limit(limit);
        }
    }

    private static final List<Shape> SHAPES = List.of(
            new Shape(List.of("id"), List.of(), List.of(), List.of(), -1),
            new Shape(List.of("id"), List.of("grp"), List.of("name", "id"), List.of(), -1),
            new Shape(List.of("id", "name"), List.of(), List.of(), List.of("-id"), 3),
            new Shape(List.of(), List.of("id"), List.of(), List.of("+id"), 50),
            new Shape(List.of(), List.of("id"), List.of("name"), List.of("-id"), 7),
            new Shape(List.of("name"), List.of("id"), List.of(), List.of("+id"), 5),
            new Shape(List.of(), List.of("id", "score"), List.of(), List.of("-id"), -1),
            new Shape(List.of("grp"), List.of(), List.of(), List.of(), 1),
            new Shape(List.of("grp"), List.of(), List.of("id", "grp"), List.of(), -1),
            new Shape(List.of(), List.of("grp"), List.of(), List.of("+grp"), 10),
            new Shape(List.of("name"), List.of("score"), List.of(), List.of("-score", "+id"), -1),
            new Shape(List.of(), List.of(), List.of(), List.of("-grp"), 4),
            new Shape(List.of(), List.of(), List.of("id", "grp"), List.of("+grp", "-name"), 6),
            new Shape(List.of("name"), List.of(), List.of(), List.of("-score"), 3),
            new Shape(List.of("grp"), List.of(), List.of("id"), List.of("-id"), 2),
            new Shape(List.of(), List.of("name"), List.of(), List.of("-name", "-score"), 5),
            new Shape(List.of(), List.of(), List.of(), List.of("+id"), 1),
            new Shape(List.of(), List.of(), List.of(), List.of(), 0));

    private SplittableRandom random = new SplittableRandom(0);
    private final TreeMap<Long, Map<String, @Nullable Object>> model = new TreeMap<>();
    private final List<Moment> moments = new ArrayList<>();
    private final List<Kept> kept = new ArrayList<>();

    /** A snapshot and what it must show. */
    private record Moment(Snapshot snapshot, TreeMap<Long, Map<String, @Nullable Object>> model) {}

    /** Rows and what they showed when they were taken. */
    private record Kept(List<Map<String, @Nullable Object>> rows, List<String> shown) {}

    @ParameterizedTest
    @EnumSource(value = Maintenance.class, mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void every_answer_is_the_models(Maintenance strategy) {
        String test = "QueryAnswersTest#every_answer_is_the_models";
        long seed = Seeds.of(test);
        random = new SplittableRandom(Seeds.mix(seed, Seeds.of(strategy.name())));
        try {
            run(strategy, seed);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
        }
    }

    @Test
    void what_a_closed_store_can_no_more_estimate_is_unknown() {
        SimClock clock = new SimClock();
        QueryResult result;
        try (Store store = Store.open(
                new SimDisk(1, Profile.STRICT),
                new SimTasks(1, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(8 << 20).withCacheBytes(8 << 20))) {
            Dataset dataset = store.createDataset(spec(Maintenance.EAGER));
            dataset.upsert(Map.of("id", 1L));
            result = Query.on(dataset).orderBy("id", Order.ASC).limit(5).run();
            assertThat(result.count()).isEqualTo(1);
            result.close();
        }
        Explanation explanation = result.explain();
        assertThat(explanation.access()).isEqualTo("primary scan in key order");
        assertThat(explanation.operators())
                .isNotEmpty()
                .allSatisfy(step -> assertThat(step.estimatedRows()).isEmpty())
                .allSatisfy(step -> assertThat(step.actualRows()).hasValue(1));
    }

    private void run(Maintenance strategy, long seed) {
        SimClock clock = new SimClock();
        try (Store store = Store.open(
                new SimDisk(seed, Profile.STRICT),
                new SimTasks(seed, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(8 << 20).withCacheBytes(8 << 20))) {
            Dataset dataset = store.createDataset(spec(strategy));
            List<PreparedQuery> prepared = new ArrayList<>();
            for (Shape shape : SHAPES) {
                List<@Nullable Object> parameters = new ArrayList<>();
                for (int i = 0; i < shape.eq().size() + 2 * shape.range().size(); i++) {
                    parameters.add(Predicates.parameter("p" + i));
                }
                prepared.add(shape.query(Query.on(dataset), parameters).prepare());
            }
            for (int step = 0; step < STEP_COUNT; step++) {
                change(store, dataset);
                int shape = random.nextInt(SHAPES.size());
                ask(dataset, SHAPES.get(shape), prepared.get(shape));
            }
            moments.forEach(moment -> moment.snapshot().close());
        }
        for (Kept taken : kept) {
            assertThat(taken.rows().stream().map(QueryAnswersTest::show).toList())
                    .as("rows of a closed result of a closed store")
                    .isEqualTo(taken.shown());
        }
    }

    private static DatasetSpec spec(Maintenance strategy) {
        return DatasetSpec.named("T")
                .field("id", "int64")
                .field("grp", "int32?")
                .field("name", "string?")
                .field("score", "double?")
                .primaryKey("id")
                .filter("score")
                .partitions(2)
                .maintenance(strategy)
                .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                .index(IndexSpec.btree("by_grp", "grp"))
                .index(IndexSpec.btree("by_name", "name", "score"));
    }

    private void change(Store store, Dataset dataset) {
        for (int i = random.nextInt(12); i > 0; i--) {
            write(dataset);
        }
        switch (random.nextInt(24)) {
            case 0, 1, 2 -> dataset.flush();
            case 3 -> dataset.mergeAll();
            case 4, 5 -> moments.add(new Moment(store.openSnapshot(), new TreeMap<>(model)));
            case 6 -> {
                if (!moments.isEmpty()) {
                    moments.remove(random.nextInt(moments.size())).snapshot().close();
                }
            }
            case 7, 8 -> {
                boolean isThere = dataset.indexes().stream()
                        .anyMatch(index -> index.name().equals("by_grp"));
                if (isThere) {
                    dataset.dropIndex("by_grp");
                } else {
                    dataset.createIndex(IndexSpec.btree("by_grp", "grp"));
                }
            }
            default -> {}
        }
    }

    private void write(Dataset dataset) {
        long id = random.nextInt(KEY_COUNT);
        if (random.nextInt(4) == 0) {
            dataset.delete(id);
            model.remove(id);
            return;
        }
        Map<String, @Nullable Object> record = new LinkedHashMap<>();
        record.put("id", id);
        for (String field : List.of("grp", "name", "score")) {
            int kind = random.nextInt(8);
            if (kind > 0) {
                record.put(field, kind == 1 ? null : value(field));
            }
        }
        if (random.nextInt(3) == 0) {
            record.put("note", "open-" + random.nextInt(100));
        }
        dataset.upsert(record);
        model.put(id, record);
    }

    private Object value(String field) {
        return switch (field) {
            case "id" -> (long) random.nextInt(-2, KEY_COUNT + 2);
            case "grp" -> random.nextInt(6);
            case "name" -> NAMES.get(random.nextInt(NAMES.size()));
            default -> random.nextInt(-4, 5) / 2.0;
        };
    }

    private void ask(Dataset dataset, Shape shape, PreparedQuery prepared) {
        List<@Nullable Object> values = new ArrayList<>();
        for (String field : shape.eq()) {
            values.add(random.nextInt(10) == 0 ? null : value(field));
        }
        for (String field : shape.range()) {
            values.add(random.nextInt(4) == 0 ? null : value(field));
            values.add(random.nextInt(4) == 0 ? null : value(field));
        }
        boolean isNow = moments.isEmpty() || random.nextBoolean();
        if (isNow) {
            List<Map<String, @Nullable Object>> expected = expected(shape, values, model);
            check(
                    dataset,
                    shape,
                    expected,
                    shape.query(Query.on(dataset), values).run());
            check(dataset, shape, expected(shape, values, model), prepared.run(values.toArray()));
            return;
        }
        Moment moment = moments.get(random.nextInt(moments.size()));
        List<Map<String, @Nullable Object>> expected = expected(shape, values, moment.model());
        try (ReadView view = moment.snapshot().view(dataset)) {
            check(dataset, shape, expected, shape.query(Query.on(view), values).run());
            check(dataset, shape, expected, prepared.runOn(view, values.toArray()));
        }
    }

    /** Reads a result, perhaps with writes in the middle, and compares. */
    private void check(
            Dataset dataset,
            Shape shape,
            List<Map<String, @Nullable Object>> expected,
            QueryResult result) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        List<String> shown = new ArrayList<>();
        int pause = random.nextInt(6) == 0 ? random.nextInt(5) : -1;
        try (result) {
            while (result.next()) {
                rows.add(result.map());
                shown.add(show(result.map()));
                if (rows.size() == pause) {
                    for (int i = 0; i < 20; i++) {
                        write(dataset);
                    }
                    dataset.flush();
                }
            }
        }
        assertThatThrownBy(result::next).isInstanceOf(ClosedException.class);
        assertThatThrownBy(result::row).isInstanceOf(ClosedException.class);
        assertThat(rows.stream().map(QueryAnswersTest::show).toList())
                .as("rows that were kept, of %s", shape)
                .isEqualTo(shown);
        kept.add(new Kept(rows, shown));
        List<String> all = expected.stream().map(QueryAnswersTest::show).toList();
        long wanted = shape.limit() < 0 ? all.size() : Math.min(all.size(), shape.limit());
        if (!shape.order().isEmpty()) {
            assertThat(shown).as("%s", shape).isEqualTo(all.subList(0, (int) wanted));
        } else {
            assertThat(shown).as("%s", shape).hasSize((int) wanted);
            List<String> rest = new ArrayList<>(all);
            shown.forEach(
                    row -> assertThat(rest.remove(row)).as("%s: %s", shape, row).isTrue());
        }
    }

    /** All rows that match, in the order that is asked for, ties by primary key. */
    private static List<Map<String, @Nullable Object>> expected(
            Shape shape,
            List<@Nullable Object> values,
            Map<Long, Map<String, @Nullable Object>> records) {
        List<Map<String, @Nullable Object>> matching = new ArrayList<>();
        for (Map<String, @Nullable Object> record : records.values()) {
            if (matches(shape, values, record)) {
                matching.add(record);
            }
        }
        for (String by : shape.order().reversed()) {
            Comparator<Map<String, @Nullable Object>> order =
                    (a, b) -> compare(a.get(by.substring(1)), b.get(by.substring(1)));
            matching.sort(by.startsWith("-") ? order.reversed() : order);
        }
        if (shape.select().isEmpty()) {
            return matching;
        }
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Map<String, @Nullable Object> record : matching) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            for (String field : shape.select()) {
                if (record.containsKey(field)) {
                    row.put(field, record.get(field));
                }
            }
            rows.add(row);
        }
        return rows;
    }

    private static boolean matches(
            Shape shape, List<@Nullable Object> values, Map<String, @Nullable Object> record) {
        int at = 0;
        for (String field : shape.eq()) {
            if (compare(record.get(field), values.get(at++)) != 0) {
                return false;
            }
        }
        for (String field : shape.range()) {
            Object value = record.get(field);
            Object low = values.get(at++);
            Object high = values.get(at++);
            if (value == null
                    || (low != null && compare(value, low) < 0)
                    || (high != null && compare(value, high) > 0)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Null below all; the strings of this test are in the order of their bytes as they are in that
     * of their chars.
     */
    @SuppressWarnings("unchecked")
    private static int compare(@Nullable Object a, @Nullable Object b) {
        if (a == null || b == null) {
            return Boolean.compare(a != null, b != null);
        }
        return ((Comparable<Object>) a).compareTo(b);
    }

    private static String show(Map<String, @Nullable Object> row) {
        return row.toString();
    }
}
