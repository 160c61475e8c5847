package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
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

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Queries of a dataset with filters on a number, a point and a rectangle, under every strategy, by
 * every way in: rows and counts are those of a loop over maps, now and at snapshots.
 */
class FilterAnswersTest {
    private static final int STEPS = Tier.count(60, 200, 3_000);
    private static final int KEYS = 20;

    private SplittableRandom random = new SplittableRandom(0);
    private final TreeMap<Long, Map<String, @Nullable Object>> model = new TreeMap<>();
    private final List<Moment> moments = new ArrayList<>();
    private int asked;

    private record Moment(Snapshot snapshot, TreeMap<Long, Map<String, @Nullable Object>> model) {}

    /** A condition, for a query and for a loop over maps. */
    private record Condition(
            io.turbidite.ops.expr.Predicate predicate,
            Predicate<Map<String, @Nullable Object>> test) {}

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void every_way_in_gives_what_is_inside(Maintenance strategy) {
        String test = "FilterAnswersTest#every_way_in_gives_what_is_inside";
        long seed = Seeds.of(test);
        random = new SplittableRandom(Seeds.mix(seed, Seeds.of(strategy.name())));
        SimClock clock = new SimClock();
        try (Store store = Store.open(
                new SimDisk(seed, Profile.STRICT),
                new SimTasks(seed, clock),
                clock,
                StoreOptions.defaults().withWriteMemoryBytes(8 << 20).withCacheBytes(8 << 20))) {
            Dataset dataset = store.createDataset(spec(strategy));
            for (int step = 0; step < STEPS; step++) {
                change(store, dataset);
                ask(dataset);
            }
            assertThat(store.verify().errors()).isEmpty();
            moments.forEach(moment -> moment.snapshot().close());
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
        }
        assertThat(asked).as("ways in").isGreaterThan(2 * STEPS);
    }

    private DatasetSpec spec(Maintenance strategy) {
        return DatasetSpec.named("T")
                .field("id", "int64")
                .field("n", "int32?")
                .field("place", "point?")
                .field("area", "rectangle?")
                .field("text", "string?")
                .primaryKey("id")
                .filter("n", "place", "area")
                .partitions(1 + random.nextInt(2))
                .maintenance(strategy)
                .mergePolicy(MergePolicySpec.parse(
                        random.nextBoolean() ? "correlated-tiering" : "correlated-no-merge"))
                .index(IndexSpec.btree("by_n", "n"))
                .index(IndexSpec.btree("by_text", "text", "n"))
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.rtree("by_area", "area"))
                .index(IndexSpec.inverted("by_word", "text"));
    }

    private void change(Store store, Dataset dataset) {
        for (int i = random.nextInt(4); i > 0; i--) {
            write(dataset);
        }
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> dataset.flush();
            case 3 -> dataset.mergeAll();
            case 4 -> moments.add(new Moment(store.openSnapshot(), new TreeMap<>(model)));
            case 5 -> {
                if (!moments.isEmpty()) {
                    moments.remove(random.nextInt(moments.size())).snapshot().close();
                }
            }
            default -> {}
        }
    }

    private void write(Dataset dataset) {
        long id = random.nextInt(KEYS);
        if (random.nextInt(5) == 0) {
            dataset.delete(id);
            model.remove(id);
            return;
        }
        Map<String, @Nullable Object> row = new HashMap<>();
        row.put("id", id);
        put(row, "n", random.nextInt(8));
        put(row, "place", new Point(coordinate(), coordinate()));
        put(row, "area", rectangle());
        put(row, "text", List.of("fog", "fog rain", "rain", "sun").get(random.nextInt(4)));
        dataset.upsert(row);
        model.put(id, row);
    }

    private void put(Map<String, @Nullable Object> row, String field, Object value) {
        int kind = random.nextInt(6);
        if (kind > 0) {
            row.put(field, kind == 1 ? null : value);
        }
    }

    private double coordinate() {
        return random.nextInt(-4, 5);
    }

    private Rectangle rectangle() {
        double x = coordinate();
        double y = coordinate();
        return new Rectangle(x, y, x + random.nextInt(4), y + random.nextInt(4));
    }

    private Condition condition() {
        int n = random.nextInt(8);
        return switch (random.nextInt(11)) {
            case 0 -> new Condition(Predicates.above("n", n), row -> number(row) > n);
            case 1 ->
                new Condition(
                        Predicates.below("n", n), row -> row.get("n") != null && number(row) < n);
            case 2 ->
                new Condition(
                        Predicates.range("n", n, n + 1),
                        row -> number(row) >= n && number(row) <= n + 1);
            case 3 -> new Condition(Predicates.eq("n", null), row -> row.get("n") == null);
            case 4 -> {
                Point place = new Point(coordinate(), coordinate());
                yield new Condition(
                        Predicates.eq("place", place), row -> place.equals(row.get("place")));
            }
            case 5 -> new Condition(Predicates.eq("area", null), row -> row.get("area") == null);
            case 6, 7 -> window("place");
            case 8 -> window("area");
            case 9 -> {
                Point middle = new Point(coordinate(), coordinate());
                int radius = 1 + random.nextInt(3);
                yield new Condition(
                        Predicates.distance("place", middle.x(), middle.y(), radius),
                        row -> row.get("place") instanceof Point p
                                && Math.hypot(p.x() - middle.x(), p.y() - middle.y()) <= radius);
            }
            default ->
                new Condition(
                        Predicates.contains("text", "fog"),
                        row -> row.get("text") instanceof String text && text.contains("fog"));
        };
    }

    private static int number(Map<String, @Nullable Object> row) {
        return row.get("n") instanceof Integer n ? n : Integer.MIN_VALUE;
    }

    private Condition window(String field) {
        Rectangle window = rectangle();
        return new Condition(
                Predicates.within(
                        field, window.minX(), window.minY(), window.maxX(), window.maxY()),
                row -> switch (row.get(field)) {
                    case Point p -> meets(new Rectangle(p.x(), p.y(), p.x(), p.y()), window);
                    case Rectangle area -> meets(area, window);
                    case null, default -> false;
                });
    }

    private static boolean meets(Rectangle area, Rectangle window) {
        return area.minX() <= window.maxX()
                && window.minX() <= area.maxX()
                && area.minY() <= window.maxY()
                && window.minY() <= area.maxY();
    }

    private void ask(Dataset dataset) {
        List<Condition> conditions = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            conditions.add(condition());
        }
        boolean isNow = moments.isEmpty() || random.nextBoolean();
        if (isNow) {
            try (ReadView view = dataset.openView()) {
                askAll(view, conditions, model);
            }
            return;
        }
        Moment moment = moments.get(random.nextInt(moments.size()));
        try (ReadView view = moment.snapshot().view(dataset)) {
            askAll(view, conditions, moment.model());
        }
    }

    private void askAll(
            ReadView view,
            List<Condition> conditions,
            Map<Long, Map<String, @Nullable Object>> rows) {
        TreeSet<Object> expected = new TreeSet<>();
        rows.forEach((id, row) -> {
            if (conditions.stream().allMatch(condition -> condition.test().test(row))) {
                expected.add(id);
            }
        });
        List<String> accesses = new ArrayList<>(List.of("", "scan"));
        view.indexes().stream().map(IndexDescription::name).forEach(accesses::add);
        for (String access : accesses) {
            try (QueryResult result = query(view, conditions, access).run();
                    QueryResult count = query(view, conditions, access).count().run()) {
                List<Object> found = new ArrayList<>();
                result.forEach(row -> found.add(row.get("id")));
                assertThat(found)
                        .as("%s by '%s'%n%s", conditions, access, result.explain())
                        .containsExactlyInAnyOrderElementsOf(expected);
                assertThat(count.count())
                        .as("count of %s by '%s'", conditions, access)
                        .isEqualTo(expected.size());
                asked++;
            } catch (InvalidRequestException unfit) {
                assertThat(unfit).hasMessageContaining("has no equality or range");
            }
        }
    }

    private static Query query(ReadView view, List<Condition> conditions, String access) {
        Query query = Query.on(view);
        conditions.forEach(condition -> query.where(condition.predicate()));
        return switch (access) {
            case "" -> query;
            case "scan" -> query.usingScan();
            default -> query.usingIndex(access);
        };
    }
}
