package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.window.WindowFunction;
import io.turbidite.ops.window.WindowFunction.Frame;
import io.turbidite.ops.window.WindowFunction.Kind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;

/** Window functions against loops over lists. */
class WindowTest {
    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final MemorySource source = new MemorySource(
            "Rows",
            RecordType.builder()
                    .field("id", "int64")
                    .field("part", "string?")
                    .field("ord", "int32?")
                    .field("n", "int32?")
                    .field("d", "double?")
                    .field("m", "decimal?")
                    .field("s", "string?")
                    .build(),
            List.of("id"),
            List.of(),
            List.of(),
            2);
    private final List<Map<String, @Nullable Object>> all = new ArrayList<>();

    @AfterEach
    void nothing_is_left() {
        assertThat(source.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
    }

    private void fill(int count, int parts, int textLength, Random random) {
        for (long id = 0; id < count; id++) {
            Map<String, @Nullable Object> row = new HashMap<>();
            row.put("id", id);
            row.put("part", random.nextInt(8) == 0 ? null : "p" + random.nextInt(parts));
            row.put("ord", random.nextInt(8) == 0 ? null : (Object) random.nextInt(9));
            row.put("n", random.nextInt(5) == 0 ? null : (Object) (random.nextInt(200) - 100));
            row.put("d", random.nextInt(5) == 0 ? null : (Object) (random.nextInt(64) / 4.0));
            row.put("m", random.nextInt(5) == 0 ? null : new BigDecimal(random.nextInt(99) + ".5"));
            row.put(
                    "s",
                    random.nextInt(5) == 0 ? null : "é".repeat(random.nextInt(textLength)) + id);
            source.upsert(row);
            all.add(row);
        }
    }

    private static final Comparator<Map<String, @Nullable Object>> BY_ORD = (a, b) -> {
        Object x = a.get("ord");
        Object y = b.get("ord");
        if (x == null || y == null) {
            return x == null ? (y == null ? 0 : -1) : 1;
        }
        return Integer.compare((Integer) x, (Integer) y);
    };

    private static final Comparator<Map<String, @Nullable Object>> BY_ID =
            Comparator.comparing(row -> (Long) Objects.requireNonNull(row.get("id")));

    /** The value of a function for a row of its partition. */
    private static @Nullable Object twin(
            WindowFunction function,
            List<Map<String, @Nullable Object>> rows,
            int at,
            Comparator<Map<String, @Nullable Object>> order) {
        Map<String, @Nullable Object> row = rows.get(at);
        int firstPeer = at;
        while (firstPeer > 0 && order.compare(rows.get(firstPeer - 1), row) == 0) {
            firstPeer--;
        }
        int lastPeer = at;
        while (lastPeer + 1 < rows.size() && order.compare(rows.get(lastPeer + 1), row) == 0) {
            lastPeer++;
        }
        int size = rows.size();
        switch (function.kind()) {
            case ROW_NUMBER -> {
                return at + 1L;
            }
            case RANK -> {
                return firstPeer + 1L;
            }
            case DENSE_RANK -> {
                long rank = 1;
                for (int i = 1; i <= firstPeer; i++) {
                    rank += order.compare(rows.get(i - 1), rows.get(i)) == 0 ? 0 : 1;
                }
                return rank;
            }
            case PERCENT_RANK -> {
                return size == 1 ? 0.0 : (double) firstPeer / (size - 1);
            }
            case CUME_DIST -> {
                return (lastPeer + 1.0) / size;
            }
            case NTILE -> {
                int tile = 0;
                int left = 0;
                for (int i = 0; i <= at; i++) {
                    if (left == 0) {
                        tile++;
                        left = size / (int) function.number()
                                + (tile <= size % (int) function.number() ? 1 : 0);
                    }
                    left--;
                }
                return (long) tile;
            }
            case LAG, LEAD -> {
                long other =
                        at + (function.kind() == Kind.LAG ? -function.number() : function.number());
                return other >= 0 && other < size
                        ? rows.get((int) other).get(function.argument())
                        : function.fallback() == null ? null : row.get(function.fallback());
            }
            default -> {}
        }
        Frame frame = function.frame();
        long from = frame.from() == Frame.UNBOUNDED_FROM
                ? 0
                : frame.isRange() ? firstPeer : Math.max(0, at + frame.from());
        long to = frame.to() == Frame.UNBOUNDED_TO
                ? size - 1
                : frame.isRange() ? lastPeer : Math.min(size - 1, at + frame.to());
        List<@Nullable Object> values = new ArrayList<>();
        for (long i = from; i <= to; i++) {
            values.add(
                    function.argument() == null
                            ? "row"
                            : rows.get((int) i).get(function.argument()));
        }
        if (function.kind() == Kind.FIRST_VALUE) {
            return values.isEmpty() ? null : values.getFirst();
        }
        if (function.kind() == Kind.NTH_VALUE) {
            return values.size() < function.number()
                    ? null
                    : values.get((int) function.number() - 1);
        }
        if (function.kind() == Kind.LAST_VALUE) {
            return values.isEmpty() ? null : values.getLast();
        }
        values.removeIf(Objects::isNull);
        if (function.kind() == Kind.COUNT) {
            return (long) values.size();
        }
        if (values.isEmpty()) {
            return function.kind() == Kind.SUM0
                    ? zero(Objects.requireNonNull(function.argument()))
                    : null;
        }
        return switch (function.kind()) {
            case SUM, SUM0 -> sum(values);
            case AVG ->
                values.stream()
                                .mapToDouble(
                                        v -> ((Number) Objects.requireNonNull(v)).doubleValue())
                                .sum()
                        / values.size();
            case MIN -> extreme(values, -1);
            default -> extreme(values, 1);
        };
    }

    private static Object zero(String field) {
        return field.equals("n") ? (Object) 0L : field.equals("d") ? 0.0 : BigDecimal.ZERO;
    }

    private static Object sum(List<@Nullable Object> values) {
        return switch (values.getFirst()) {
            case Integer _ ->
                values.stream()
                        .mapToLong(v -> (Integer) Objects.requireNonNull(v))
                        .sum();
            case Double _ ->
                values.stream()
                        .mapToDouble(v -> (Double) Objects.requireNonNull(v))
                        .sum();
            case null, default ->
                values.stream()
                        .map(BigDecimal.class::cast)
                        .reduce(BigDecimal.ZERO, BigDecimal::add);
        };
    }

    @SuppressWarnings("unchecked")
    private static @Nullable Object extreme(List<@Nullable Object> values, int sign) {
        Object best = null;
        for (Object value : values) {
            if (best == null
                    || sign * ((Comparable<Object>) Objects.requireNonNull(value)).compareTo(best)
                            > 0) {
                best = value;
            }
        }
        return best;
    }

    private static WindowFunction random(Random random, boolean isTotal) {
        String[] fields = {"n", "d", "m", "s"};
        String field = fields[random.nextInt(4)];
        String number = fields[random.nextInt(3)];
        WindowFunction function = switch (random.nextInt(isTotal ? 15 : 10)) {
            case 0 -> WindowFunction.of(Kind.RANK);
            case 1 -> WindowFunction.of(Kind.DENSE_RANK);
            case 2 -> WindowFunction.of(Kind.PERCENT_RANK);
            case 3 ->
                random.nextBoolean()
                        ? WindowFunction.of(Kind.COUNT)
                        : WindowFunction.of(Kind.COUNT, field);
            case 4 -> WindowFunction.sum(number);
            case 5 -> WindowFunction.of(Kind.AVG, number);
            case 6 -> WindowFunction.of(Kind.MIN, field);
            case 7 -> WindowFunction.of(Kind.MAX, field);
            case 8 -> WindowFunction.of(Kind.SUM0, number);
            case 9 -> WindowFunction.of(Kind.CUME_DIST);
            case 14 -> WindowFunction.rowNumber();
            case 10 -> WindowFunction.of(Kind.NTILE).by(1 + random.nextInt(5));
            case 11 ->
                WindowFunction.lag(field, random.nextInt(4))
                        .otherwise(random.nextBoolean() ? field : null);
            case 12 -> WindowFunction.lead(field, random.nextInt(4));
            default ->
                WindowFunction.of(random.nextBoolean() ? Kind.FIRST_VALUE : Kind.LAST_VALUE, field);
        };
        if (isTotal && random.nextInt(12) == 0) {
            return WindowFunction.of(Kind.NTH_VALUE, field)
                    .by(1 + random.nextInt(4))
                    .rows(random.nextInt(5) - 3, 1 + random.nextInt(3));
        }
        if (random.nextInt(4) == 0) {
            return isTotal
                    ? function.rows(random.nextInt(7) - 3, Frame.UNBOUNDED_TO)
                    : function.over(new Frame(true, 0, Frame.UNBOUNDED_TO));
        }
        return switch (random.nextInt(isTotal ? 6 : 3)) {
            case 0 -> function;
            case 1 -> function.overAll();
            case 2 -> function.over(new Frame(true, 0, 0));
            case 3 -> function.rows(Frame.UNBOUNDED_FROM, random.nextInt(7) - 3);
            default -> {
                int from = random.nextInt(7) - 3;
                yield function.rows(from, from + random.nextInt(4));
            }
        };
    }

    private void compare(long seed, int rounds, RunOptions options) {
        Random random = new Random(seed);
        for (int round = 0; round < rounds; round++) {
            boolean isTotal = random.nextBoolean();
            boolean hasPartition = random.nextInt(4) > 0;
            boolean isDescending = random.nextBoolean();
            Window window = Window.of(Query.on(source)).with(options);
            if (hasPartition) {
                window.partitionBy("part");
            }
            window.orderBy("ord", isDescending ? Order.DESC : Order.ASC);
            Comparator<Map<String, @Nullable Object>> order =
                    isDescending ? BY_ORD.reversed() : BY_ORD;
            if (isTotal) {
                window.orderBy("id", Order.ASC);
                order = order.thenComparing(BY_ID);
            }
            List<WindowFunction> functions = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                functions.add(random(random, isTotal).as("f" + i));
                window.add(functions.getLast());
            }
            Map<Object, List<@Nullable Object>> expected = new HashMap<>();
            Map<String, List<Map<String, @Nullable Object>>> parts = new HashMap<>();
            for (Map<String, @Nullable Object> row : all) {
                parts.computeIfAbsent(
                                hasPartition ? String.valueOf(row.get("part")) : "",
                                _ -> new ArrayList<>())
                        .add(row);
            }
            for (List<Map<String, @Nullable Object>> rows : parts.values()) {
                rows.sort(order);
                for (int i = 0; i < rows.size(); i++) {
                    List<@Nullable Object> values = new ArrayList<>();
                    for (WindowFunction function : functions) {
                        values.add(shown(twin(function, rows, i, order)));
                    }
                    expected.put(Objects.requireNonNull(rows.get(i).get("id")), values);
                }
            }
            Map<Object, List<@Nullable Object>> found = new HashMap<>();
            try (QueryResult rows = window.run()) {
                while (rows.next()) {
                    List<@Nullable Object> values = new ArrayList<>();
                    for (WindowFunction function : functions) {
                        values.add(shown(rows.row().get(function.name())));
                    }
                    assertThat(found.put(Objects.requireNonNull(rows.row().get("id")), values))
                            .isNull();
                }
            }
            assertThat(found)
                    .as("seed %d, round %d, %s", seed, round, functions)
                    .isEqualTo(expected);
        }
    }

    /** Whole numbers of one width, decimals without their scale, doubles to nine digits. */
    private static @Nullable Object shown(@Nullable Object value) {
        return switch (value) {
            case Integer whole -> whole.longValue();
            case BigDecimal decimal -> decimal.stripTrailingZeros().toPlainString();
            case Double real -> Math.round(real * 1e9);
            case null, default -> value;
        };
    }

    @Test
    void random_functions_give_what_loops_give() {
        fill(150, 4, 5, new Random(7));
        compare(11, 150, RunOptions.defaults());
    }

    /** Numbers whose sum fits, though the first ones of it do not, and one that rounding loses. */
    @Test
    void sums_are_those_of_groups_whatever_the_order() {
        long[] ids = {Long.MAX_VALUE, 5, -10};
        double[] fractions = {1e16, 1, -1e16};
        for (int i = 0; i < ids.length; i++) {
            Map<String, @Nullable Object> row = new HashMap<>();
            row.put("id", ids[i]);
            row.put("ord", i);
            row.put("d", fractions[i]);
            source.upsert(row);
        }
        try (QueryResult rows = Window.of(Query.on(source))
                .orderBy("ord", Order.ASC)
                .add(WindowFunction.sum("id").overAll().as("whole"))
                .add(WindowFunction.of(Kind.AVG, "id").overAll().as("mean"))
                .add(WindowFunction.sum("d").rows(-2, 2).as("real"))
                .add(WindowFunction.of(Kind.AVG, "id").rows(0, 1).as("near"))
                .run()) {
            assertThat(rows.next()).isTrue();
            assertThat(rows.row().get("whole")).isEqualTo(Long.MAX_VALUE - 5);
            assertThat(rows.row().get("mean")).isEqualTo((Long.MAX_VALUE - 5) / 3.0);
            assertThat(rows.row().get("real")).isEqualTo(1.0);
            assertThat(rows.row().get("near")).isEqualTo((0x1p63 + 4) / 2);
        }
        assertThatThrownBy(() -> {
                    try (QueryResult rows = Window.of(Query.on(source))
                            .orderBy("ord", Order.ASC)
                            .add(WindowFunction.sum("id").rows(-1, 0))
                            .run()) {
                        while (rows.next()) {
                            assertThat(rows.row().get("sum")).isEqualTo(Long.MAX_VALUE);
                        }
                    }
                })
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("the sum of 'id' does not fit its type");
    }

    @Test
    void partitions_larger_than_the_memory_spill() {
        fill(4_000, 2, 60, new Random(8));
        compare(
                12,
                4,
                RunOptions.defaults()
                        .withMemoryBytesMax(4 * RunOptions.MEMORY_BYTES_MIN)
                        .withSpill(disk, "spill"));
        assertThatThrownBy(() -> Window.of(Query.on(source))
                        .add(WindowFunction.sum("n").overAll())
                        .with(RunOptions.defaults().withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN))
                        .run()
                        .count())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("more than 32,768 bytes of memory");
        assertThatThrownBy(() -> Window.of(Query.on(source))
                        .add(WindowFunction.lag("s", 2_000))
                        .with(RunOptions.defaults().withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN))
                        .run()
                        .count())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("rows around each row need more than");
    }

    @Test
    void a_result_that_is_closed_early_leaves_nothing() {
        fill(3_000, 2, 60, new Random(9));
        RunOptions options = RunOptions.defaults()
                .withMemoryBytesMax(2 * RunOptions.MEMORY_BYTES_MIN)
                .withSpill(disk, "spill");
        for (int rowCount : new int[] {0, 1, 700, 2_999}) {
            try (QueryResult rows = Window.of(Query.on(source))
                    .add(WindowFunction.sum("n").overAll())
                    .with(options)
                    .run()) {
                for (int i = 0; i < rowCount; i++) {
                    assertThat(rows.next()).isTrue();
                }
            }
            assertThat(source.openCount).hasValue(0);
            assertThat(disk.files()).isEmpty();
        }
    }

    @Test
    void mistakes_are_told() {
        assertThatThrownBy(() ->
                        Window.of(Query.on(source)).add(WindowFunction.sum("s")).type())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("sum does not take 's', which is string?");
        assertThatThrownBy(() -> Window.of(Query.on(source))
                        .add(WindowFunction.lag("nn", 1))
                        .run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("names field 'nn', which is not declared");
        assertThatThrownBy(() -> WindowFunction.sum("n").rows(0, 100_001))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("a frame of rows goes from the first one");
        assertThatThrownBy(() -> WindowFunction.sum("n").rows(1, 0))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("a frame ends before it begins");
        assertThatThrownBy(() -> WindowFunction.of(Kind.NTILE).by(0))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("ntile of 0 parts: 1 at least");
        MemorySource large = new MemorySource(
                "Large",
                RecordType.builder().field("id", "int64").build(),
                List.of("id"),
                List.of(),
                List.of(),
                1);
        large.upsert(Map.of("id", Long.MAX_VALUE));
        large.upsert(Map.of("id", 1L));
        assertThatThrownBy(() -> Window.of(Query.on(large))
                        .add(WindowFunction.sum("id").overAll())
                        .run()
                        .count())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("the sum of 'id' does not fit its type");
        assertThat(large.openCount).hasValue(0);
    }
}
