package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Nulls;
import io.turbidite.ops.Order;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The first few rows of an order, gone through by a B+-tree, are the model's: under every strategy,
 * of several partitions, with ties and nulls, in views that are older than the last writes, from
 * memory and from components.
 */
class IndexOrderQueryTest {
    private static final int KEYS = 400;
    private static final int ROUNDS = Tier.count(5, 12, 300);
    private static final int QUESTIONS = 14;

    @TempDir
    Path directory;

    /** Null in its fields: as in the record. */
    private record Row(
            long id,
            @Nullable Integer grp,
            @Nullable Long at,
            @Nullable String name) {
        Map<String, @Nullable Object> fields() {
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            fields.put("id", id);
            fields.put("grp", grp);
            fields.put("at", at);
            fields.put("name", name);
            return fields;
        }

        @Nullable
        Comparable<?> value(String field) {
            return switch (field) {
                case "id" -> id;
                case "grp" -> grp;
                case "at" -> at;
                default -> name;
            };
        }
    }

    /** What a field is ordered by. */
    private record By(String field, boolean descending, boolean nullsAbove) {
        Comparator<Row> comparator() {
            return (a, b) -> {
                int order = compare(a.value(field), b.value(field));
                return descending ? -order : order;
            };
        }

        @SuppressWarnings("unchecked")
        private int compare(@Nullable Comparable<?> a, @Nullable Comparable<?> b) {
            if (a == null || b == null) {
                int order = Boolean.compare(a != null, b != null);
                return nullsAbove ? -order : order;
            }
            return ((Comparable<Object>) a).compareTo(b);
        }

        void addTo(Query query) {
            boolean isFirst = descending == nullsAbove;
            query.orderBy(
                    field, descending ? Order.DESC : Order.ASC, isFirst ? Nulls.FIRST : Nulls.LAST);
        }
    }

    private final TreeMap<Long, Row> model = new TreeMap<>();
    private int inOrder;

    private static DatasetSpec spec(Maintenance maintenance) {
        return DatasetSpec.named("Rows")
                .field("id", "int64")
                .field("grp", "int32?")
                .field("at", "int64?")
                .field("name", "string?")
                .primaryKey("id")
                .filter("at")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                .partitions(3)
                .index(IndexSpec.btree("by_at", "at"))
                .index(IndexSpec.btree("by_grp", "grp", "at"))
                .index(IndexSpec.btree("by_name", "name"));
    }

    @ParameterizedTest
    @Timeout(300)
    @EnumSource(Maintenance.class)
    void rows_are_those_of_the_model(Maintenance maintenance) {
        String test = "IndexOrderQueryTest#rows_are_those_of_the_model";
        long seed = Seeds.of(test);
        SplittableRandom random = new SplittableRandom(seed);
        try (Store store =
                Store.open(directory, StoreOptions.defaults().withDurability(Durability.PROCESS))) {
            Dataset dataset = store.createDataset(spec(maintenance));
            for (int round = 0; round < ROUNDS; round++) {
                change(dataset, random, 150);
                List<Row> then = List.copyOf(model.values());
                try (ReadView view = dataset.openView()) {
                    change(dataset, random, 20);
                    if (random.nextInt(2) == 0) {
                        dataset.flush();
                        change(dataset, random, 20);
                    }
                    for (int i = 0; i < QUESTIONS; i++) {
                        ask(view, then, random);
                    }
                }
                if (random.nextInt(3) == 0) {
                    dataset.mergeAll();
                }
            }
            assertThat(store.verify().errors()).isEmpty();
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
        }
        assertThat(inOrder)
                .as("questions that an index in key order answered")
                .isGreaterThan(ROUNDS * QUESTIONS / 3);
    }

    private void change(Dataset dataset, SplittableRandom random, int count) {
        for (int i = 0; i < count; i++) {
            long id = random.nextInt(KEYS);
            if (random.nextInt(6) == 0) {
                dataset.delete(id);
                model.remove(id);
                continue;
            }
            Row row = new Row(
                    id,
                    random.nextInt(6) == 0 ? null : (Integer) random.nextInt(4),
                    random.nextInt(6) == 0 ? null : (Long) (long) random.nextInt(120),
                    random.nextInt(6) == 0 ? null : "name " + random.nextInt(300));
            dataset.upsert(row.fields());
            model.put(id, row);
        }
    }

    private void ask(ReadView view, List<Row> then, SplittableRandom random) {
        List<Predicate<Row>> conditions = new ArrayList<>();
        String index = List.of("by_at", "by_grp", "by_name").get(random.nextInt(3));
        List<By> order = new ArrayList<>();
        boolean descending = random.nextBoolean();
        Query query = Query.on(view);
        if (index.equals("by_grp") && random.nextBoolean()) {
            int grp = random.nextInt(4);
            query.where(Predicates.eq("grp", grp));
            conditions.add(row -> row.grp() != null && row.grp() == grp);
        } else if (index.equals("by_grp")) {
            order.add(by("grp", descending, random));
        }
        if (random.nextInt(4) > 0) {
            order.add(by(index.equals("by_name") ? "name" : "at", descending, random));
        }
        if (order.isEmpty() || random.nextInt(3) == 0) {
            order.add(by("id", random.nextInt(4) > 0 == descending, random));
        }
        if (random.nextInt(3) == 0) {
            long low = random.nextInt(100);
            query.where(Predicates.range("at", low, null));
            conditions.add(row -> row.at() != null && row.at() >= low);
        }
        if (random.nextInt(3) == 0) {
            query.where(Predicates.range("name", null, "name 2"));
            conditions.add(row -> row.name() != null && row.name().compareTo("name 2") <= 0);
        }
        order.forEach(by -> by.addTo(query));
        long limit = 1L + random.nextInt(random.nextInt(4) == 0 ? 200 : 12);
        query.limit(limit);
        if (random.nextBoolean()) {
            query.with(RunOptions.defaults().withKeyBatchBytes(4 << 10));
        }
        List<Row> expected = new ArrayList<>(then.stream()
                .filter(conditions.stream().reduce(row -> true, Predicate::and))
                .toList());
        // rows that are equal in all that is ordered by stay in the order of the primary key
        Comparator<Row> comparator = order.getFirst().comparator();
        for (By by : order.subList(1, order.size())) {
            comparator = comparator.thenComparing(by.comparator());
        }
        expected.sort(comparator.thenComparingLong(Row::id));
        List<String> wanted = expected.stream()
                .limit(limit)
                .map(row -> row.fields().toString())
                .toList();
        try (QueryResult result = query.run()) {
            String access = result.explain().access();
            inOrder += access.endsWith("key order, then fetch") ? 1 : 0;
            assertThat(result.toList().stream().map(Object::toString).toList())
                    .as("%s, limit %d, %s", order, limit, access)
                    .isEqualTo(wanted);
        }
    }

    private static By by(String field, boolean descending, SplittableRandom random) {
        return new By(field, descending, random.nextInt(8) == 0);
    }
}
