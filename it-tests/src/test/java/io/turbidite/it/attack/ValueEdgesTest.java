package io.turbidite.it.attack;

import static io.turbidite.ops.Predicates.eq;
import static io.turbidite.ops.Predicates.range;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Order;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Values at the edges of each type, asked for in every way, beside what plain Java says of them.
 * The model shares no encoding and no comparison with the store: lists of objects and the order of
 * their classes.
 */
class ValueEdgesTest {
    private static final int RANGES = Tier.count(4, 8, 200);

    /** Values of a type, and how they compare. */
    private record Edge(String type, Comparator<Object> order, List<Object> values) {}

    private static <T> Edge edge(String type, Class<T> of, Comparator<T> order, List<T> values) {
        return new Edge(type, (a, b) -> order.compare(of.cast(a), of.cast(b)), List.copyOf(values));
    }

    private static List<Edge> edges() {
        Comparator<Double> real = (a, b) -> Double.compare(a + 0.0, b + 0.0);
        Comparator<Float> single = (a, b) -> Float.compare(a + 0.0f, b + 0.0f);
        Comparator<Double> exact = real;
        UUID low = new UUID(0, 0);
        UUID high = new UUID(-1, -1);
        UUID middle = new UUID(Long.MIN_VALUE, 1);
        return List.of(
                edge("bool", Boolean.class, Comparator.naturalOrder(), List.of(false, true)),
                edge(
                        "int8",
                        Byte.class,
                        Comparator.naturalOrder(),
                        List.of(Byte.MIN_VALUE, (byte) -1, (byte) 0, (byte) 1, Byte.MAX_VALUE)),
                edge(
                        "int16",
                        Short.class,
                        Comparator.naturalOrder(),
                        List.of(
                                Short.MIN_VALUE,
                                (short) -1,
                                (short) 0,
                                (short) 256,
                                Short.MAX_VALUE)),
                edge(
                        "int32",
                        Integer.class,
                        Comparator.naturalOrder(),
                        List.of(Integer.MIN_VALUE, -65_536, -1, 0, 255, 256, Integer.MAX_VALUE)),
                edge(
                        "int64",
                        Long.class,
                        Comparator.naturalOrder(),
                        List.of(
                                Long.MIN_VALUE,
                                Long.MIN_VALUE + 1,
                                -256L,
                                -1L,
                                0L,
                                1L << 40,
                                Long.MAX_VALUE)),
                edge(
                        "float",
                        Float.class,
                        single,
                        List.of(
                                Float.NEGATIVE_INFINITY,
                                -Float.MAX_VALUE,
                                -Float.MIN_VALUE,
                                -0.0f,
                                0.0f,
                                Float.MIN_VALUE,
                                Float.MAX_VALUE,
                                Float.POSITIVE_INFINITY,
                                Float.NaN)),
                edge(
                        "double",
                        Double.class,
                        real,
                        List.of(
                                Double.NEGATIVE_INFINITY,
                                -Double.MAX_VALUE,
                                -Double.MIN_VALUE,
                                -0.0,
                                0.0,
                                Double.MIN_VALUE,
                                Double.MIN_NORMAL,
                                Double.POSITIVE_INFINITY,
                                Double.NaN,
                                Double.longBitsToDouble(0xFFF8_0000_0000_0001L))),
                edge(
                        "decimal",
                        BigDecimal.class,
                        Comparator.naturalOrder(),
                        List.of(
                                new BigDecimal("-1E+30"),
                                new BigDecimal("-0.1"),
                                new BigDecimal("0.00"),
                                new BigDecimal("0"),
                                new BigDecimal("1E-30"),
                                new BigDecimal("1.0"),
                                new BigDecimal("1"),
                                new BigDecimal("9".repeat(60)))),
                edge(
                        "string",
                        String.class,
                        (a, b) -> Arrays.compare(
                                a.codePoints().toArray(), b.codePoints().toArray()),
                        List.of(
                                "",
                                "\0",
                                "\0\0",
                                "\u0001",
                                "\u0002",
                                "a",
                                "a\0",
                                "a\uFFFD",
                                "a\uD83D\uDE00",
                                "z".repeat(900))),
                edge(
                        "bytes",
                        byte[].class,
                        Arrays::compareUnsigned,
                        List.of(
                                new byte[0],
                                new byte[] {0},
                                new byte[] {0, 0},
                                new byte[] {1},
                                new byte[] {2, 3},
                                new byte[] {127},
                                new byte[] {-128},
                                new byte[] {-1, -1})),
                edge(
                        "uuid",
                        UUID.class,
                        (a, b) -> {
                            int order = Long.compareUnsigned(
                                    a.getMostSignificantBits(), b.getMostSignificantBits());
                            return order != 0
                                    ? order
                                    : Long.compareUnsigned(
                                            a.getLeastSignificantBits(),
                                            b.getLeastSignificantBits());
                        },
                        List.of(low, middle, high)),
                edge(
                        "date",
                        LocalDate.class,
                        Comparator.naturalOrder(),
                        List.of(
                                LocalDate.of(-9999, 1, 1),
                                LocalDate.of(0, 1, 1),
                                LocalDate.EPOCH,
                                LocalDate.of(1969, 12, 31),
                                LocalDate.of(9999, 12, 31))),
                edge(
                        "time",
                        LocalTime.class,
                        Comparator.naturalOrder(),
                        List.of(
                                LocalTime.MIN,
                                LocalTime.of(23, 59, 59, 999_999_000),
                                LocalTime.NOON)),
                edge(
                        "datetime",
                        Instant.class,
                        Comparator.naturalOrder(),
                        List.of(
                                Instant.parse("-9999-01-01T00:00:00Z"),
                                Instant.EPOCH,
                                Instant.EPOCH.minusNanos(1_000),
                                Instant.parse("9999-12-31T23:59:59.999999Z"))),
                edge(
                        "duration",
                        Duration.class,
                        Comparator.naturalOrder(),
                        List.of(
                                Duration.ofDays(-100_000),
                                Duration.ofNanos(-1_000),
                                Duration.ZERO,
                                Duration.ofDays(100_000))),
                edge(
                        "point",
                        Point.class,
                        Comparator.comparing(Point::x, exact).thenComparing(Point::y, exact),
                        List.of(
                                new Point(-Double.MAX_VALUE, Double.MAX_VALUE),
                                new Point(-0.0, -0.0),
                                new Point(0.0, 0.0),
                                new Point(0.0, -0.0),
                                new Point(0.0, 1),
                                new Point(-0.0, -1),
                                new Point(Double.MIN_VALUE, 0))),
                edge(
                        "rectangle",
                        Rectangle.class,
                        Comparator.comparing(Rectangle::minX, exact)
                                .thenComparing(Rectangle::minY, exact)
                                .thenComparing(Rectangle::maxX, exact)
                                .thenComparing(Rectangle::maxY, exact),
                        List.of(
                                new Rectangle(-0.0, 0, 0, -0.0),
                                new Rectangle(0, -0.0, -0.0, 0),
                                new Rectangle(-1, -1, 1, 1),
                                new Rectangle(0, 0, Double.MAX_VALUE, 1))));
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void every_way_to_ask_says_what_java_says(Maintenance maintenance, @TempDir Path directory) {
        long seed = Seeds.of("ValueEdgesTest");
        // what is asked here is not whether it lasts
        LogOptions log = LogOptions.defaults()
                .withSegmentBytes(256 << 10, 16, 256, 64 << 10)
                .withDurability(Durability.BUFFERED);
        StoreOptions options = StoreOptions.defaults().withLog(1 << 20, log);
        try (Store store = Store.open(directory.resolve("store"), options)) {
            for (Edge edge : edges()) {
                try {
                    new Run(store, edge, maintenance, new SplittableRandom(seed)).go();
                } catch (Throwable failure) {
                    throw new AssertionError(
                            "%s under %s: %s"
                                    .formatted(
                                            edge.type,
                                            maintenance.label(),
                                            Seeds.replay("ValueEdgesTest", seed)),
                            failure);
                }
            }
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    /**
     * One type under one strategy: a dataset by a number, and one whose primary key is the value.
     */
    private static final class Run {
        private final Edge edge;
        private final SplittableRandom random;
        private final Dataset dataset;
        private final Dataset keyed;

        /** The value of each record; null is absent. */
        private final Map<Long, @Nullable Object> rows = new TreeMap<>();

        Run(Store store, Edge edge, Maintenance maintenance, SplittableRandom random) {
            this.edge = edge;
            this.random = random;
            MergePolicySpec policy = MergePolicySpec.parse("correlated-no-merge");
            dataset = store.createDataset(DatasetSpec.named("by_number_" + edge.type)
                    .field("id", "int64")
                    .field("v", edge.type + "?")
                    .primaryKey("id")
                    .filter("v")
                    .maintenance(maintenance)
                    .mergePolicy(policy)
                    .partitions(2)
                    .index(IndexSpec.btree("by_v", "v")));
            keyed = store.createDataset(DatasetSpec.named("by_value_" + edge.type)
                    .field("v", edge.type)
                    .field("id", "int64")
                    .primaryKey("v")
                    .maintenance(maintenance)
                    .mergePolicy(policy)
                    .partitions(2));
        }

        void go() {
            write();
            for (Object value : edge.values) {
                check(v -> same(v, value), query -> query.where(eq("v", value)));
            }
            check(Objects::isNull, query -> query.where(eq("v", null)));
            for (int i = 0; i < RANGES; i++) {
                Object a = any();
                Object b = any();
                Object low = random.nextInt(5) == 0 ? null : edge.order.compare(a, b) <= 0 ? a : b;
                Object high = random.nextInt(5) == 0 ? null : edge.order.compare(a, b) <= 0 ? b : a;
                check(
                        v -> v != null
                                && (low == null || edge.order.compare(v, low) >= 0)
                                && (high == null || edge.order.compare(v, high) <= 0),
                        query -> query.where(range("v", low, high)));
            }
            groups();
            order(true);
            order(false);
            keys();
        }

        private Object any() {
            return edge.values.get(random.nextInt(edge.values.size()));
        }

        private boolean same(@Nullable Object a, @Nullable Object b) {
            if (a == null || b == null) {
                return a == null && b == null;
            }
            return edge.order.compare(a, b) == 0;
        }

        /**
         * Each record has had another value, in an older component; some are gone, some null or
         * missing.
         */
        private void write() {
            int count = 3 * edge.values.size() + 4;
            for (long id = 0; id < count; id++) {
                put(id, any());
            }
            dataset.flush();
            for (long id = 0; id < count; id++) {
                put(id, id < count - 4 ? edge.values.get((int) (id % edge.values.size())) : null);
                if (id == count / 2) {
                    dataset.flush();
                }
            }
            long gone = random.nextInt(count);
            dataset.delete(gone);
            rows.remove(gone);
        }

        private void put(long id, @Nullable Object value) {
            Map<String, @Nullable Object> record = new HashMap<>();
            record.put("id", id);
            if (value != null || id % 2 == 0) {
                record.put("v", value);
            }
            dataset.upsert(record);
            rows.put(id, value);
        }

        private void check(Predicate<@Nullable Object> wanted, UnaryOperator<Query> predicates) {
            List<Long> expected = new ArrayList<>();
            rows.forEach((id, value) -> {
                if (wanted.test(value)) {
                    expected.add(id);
                }
            });
            for (boolean scan : new boolean[] {true, false}) {
                List<Long> found = new ArrayList<>();
                each(way(predicates, scan), row -> found.add((Long) row.get("id")));
                assertThat(found).containsExactlyInAnyOrderElementsOf(expected);
                try (QueryResult counted = way(predicates, scan).count().run()) {
                    assertThat(counted.count()).isEqualTo(expected.size());
                }
            }
        }

        private Query way(UnaryOperator<Query> predicates, boolean scan) {
            Query query = predicates.apply(Query.on(dataset));
            return scan ? query.usingScan() : query.usingIndex("by_v");
        }

        private static void each(
                Query query, java.util.function.Consumer<Map<String, ?>> consumer) {
            try (QueryResult result = query.run()) {
                result.forEach(consumer);
            }
        }

        private void groups() {
            for (boolean scan : new boolean[] {true, false}) {
                List<Long> counts = new ArrayList<>();
                each(
                        way(query -> query.groupBy("v"), scan),
                        row -> counts.add((Long) row.get("count")));
                List<Long> expected = new ArrayList<>();
                List<@Nullable Object> distinct = new ArrayList<>();
                for (Object value : rows.values()) {
                    if (distinct.stream().noneMatch(other -> same(other, value))) {
                        distinct.add(value);
                        expected.add(rows.values().stream()
                                .filter(other -> same(other, value))
                                .count());
                    }
                }
                assertThat(counts).containsExactlyInAnyOrderElementsOf(expected);
            }
        }

        /** Null is first; equal values are in the order of the number. */
        private void order(boolean ascending) {
            Comparator<@Nullable Object> order = (a, b) -> a == null || b == null
                    ? Boolean.compare(a != null, b != null)
                    : edge.order.compare(a, b);
            List<Long> expected = new ArrayList<>(rows.keySet());
            Comparator<@Nullable Object> directed = ascending ? order : order.reversed();
            expected.sort((a, b) -> directed.compare(rows.get(a), rows.get(b)));
            List<Long> found = new ArrayList<>();
            each(
                    Query.on(dataset)
                            .orderBy("v", ascending ? Order.ASC : Order.DESC)
                            .orderBy("id", Order.ASC),
                    row -> found.add((Long) row.get("id")));
            assertThat(found).isEqualTo(expected);
        }

        /** The last of equal values is the record. */
        private void keys() {
            for (int i = 0; i < edge.values.size(); i++) {
                keyed.upsert(Map.of("v", edge.values.get(i), "id", (long) i));
                if (i == edge.values.size() / 2) {
                    keyed.flush();
                }
            }
            for (Object value : edge.values) {
                long last = -1;
                for (int i = 0; i < edge.values.size(); i++) {
                    last = same(edge.values.get(i), value) ? i : last;
                }
                assertThat(Objects.requireNonNull(keyed.get(value)).get("id")).isEqualTo(last);
            }
            List<Long> found = new ArrayList<>();
            each(Query.on(keyed).orderBy("v", Order.ASC), row -> found.add((Long) row.get("id")));
            for (int i = 1; i < found.size(); i++) {
                Object before = edge.values.get(found.get(i - 1).intValue());
                assertThat(edge.order.compare(
                                before, edge.values.get(found.get(i).intValue())))
                        .isNegative();
            }
            Object gone = any();
            keyed.delete(gone);
            assertThat(keyed.get(gone)).isNull();
        }
    }
}
