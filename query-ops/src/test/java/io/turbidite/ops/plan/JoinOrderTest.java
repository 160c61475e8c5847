package io.turbidite.ops.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.join.JoinKind;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;

/** Inner joins give the same rows in any order, and the cheapest order is found. */
class JoinOrderTest {
    private static final int ROWS_MAX = 14;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    /** A relation of the random trees, with fields that no other one has. */
    private record Made(RecordType type, List<Slice> rows) {
        static Made of(int number, SplittableRandom random) {
            RecordType type = RecordType.builder()
                    .field("id" + number, "int64")
                    .field("k" + number, random.nextBoolean() ? "int32?" : "int64?")
                    .field("m" + number, "int32?")
                    .field("s" + number, "string?")
                    .build();
            RecordWriter writer = new RecordWriter(type);
            List<Slice> rows = new ArrayList<>();
            int count = random.nextInt(ROWS_MAX);
            boolean isLong = type.field(1).kind() == TypeKind.INT64;
            for (long id = 0; id < count; id++) {
                Map<String, @Nullable Object> row = new HashMap<>();
                row.put("id" + number, id);
                int k = random.nextInt(6);
                if (random.nextInt(6) > 0) {
                    row.put("k" + number, isLong ? (Object) (long) k : (Object) k);
                }
                row.put("m" + number, random.nextInt(6) == 0 ? null : random.nextInt(4));
                row.put("s" + number, random.nextInt(6) == 0 ? null : "t" + random.nextInt(5));
                rows.add(Slice.of(writer.write(row).toByteArray()));
            }
            return new Made(type, rows);
        }
    }

    /** A tree, made anew each time it is asked for: plans give their rows once. */
    private interface Tree {
        ResultPlan plan(RunOptions options);
    }

    /** Which shape joins by equal fields have. */
    private enum Shape {
        CHAIN,
        STAR,
        CLIQUE,
        ANY
    }

    private record Part(Tree tree, List<Integer> numbers) {}

    private static JoinPlan.Request inner(
            List<JoinPlan.Equal> on, List<Expression> where, boolean isCross) {
        return new JoinPlan.Request(JoinKind.INNER, on, where, isCross, false);
    }

    private static Expression condition(String text) {
        return Expression.condition(text, Expression.Grammar.FIELDS);
    }

    private static Part relation(int number, SplittableRandom random) {
        Made made = Made.of(number, random);
        Tree all = options -> new ValuesPlan(made.type(), made.rows(), options);
        if (random.nextInt(5) > 0) {
            return new Part(all, List.of(number));
        }
        // an outer, semi or anti join stays where it is
        Made other = Made.of(100 + number, random);
        JoinKind kind = List.of(JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI).get(random.nextInt(3));
        JoinPlan.Request request = new JoinPlan.Request(
                kind,
                List.of(new JoinPlan.Equal("m" + number, "m" + (100 + number))),
                List.of(),
                false,
                false);
        return new Part(
                options -> JoinPlan.of(
                        all.plan(options),
                        new ValuesPlan(other.type(), other.rows(), options),
                        request,
                        options),
                List.of(number));
    }

    private static String pick(String fields, Part of, SplittableRandom random) {
        return "" + fields.charAt(random.nextInt(fields.length())) + one(of, random);
    }

    private static int one(Part of, SplittableRandom random) {
        return of.numbers().get(random.nextInt(of.numbers().size()));
    }

    private static List<JoinPlan.Equal> equalities(
            Shape shape, Part a, Part b, SplittableRandom random) {
        List<JoinPlan.Equal> on = new ArrayList<>();
        switch (shape) {
            case CHAIN -> {
                // neighbours have an edge
                for (int i : a.numbers()) {
                    for (int j : b.numbers()) {
                        if (Math.abs(i - j) == 1) {
                            on.add(new JoinPlan.Equal(
                                    (i < j ? "k" : "m") + i, (i < j ? "m" : "k") + j));
                        }
                    }
                }
            }
            case STAR -> {
                for (int i : a.numbers()) {
                    for (int j : b.numbers()) {
                        if (i == 0 || j == 0) {
                            on.add(new JoinPlan.Equal("k" + i, "k" + j));
                        }
                    }
                }
            }
            case CLIQUE -> {
                for (int i : a.numbers()) {
                    on.add(new JoinPlan.Equal("m" + i, "m" + b.numbers().getFirst()));
                }
            }
            case ANY -> {
                for (int i = random.nextInt(4); i > 0; i--) {
                    on.add(
                            random.nextInt(4) == 0
                                    ? new JoinPlan.Equal(pick("s", a, random), pick("s", b, random))
                                    : new JoinPlan.Equal(
                                            pick("km", a, random), pick("km", b, random)));
                }
            }
        }
        return on;
    }

    private static List<Expression> conditions(Part a, Part b, SplittableRandom random) {
        List<Expression> where = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            String text = switch (random.nextInt(7)) {
                case 0 -> pick("km", a, random) + " <= " + pick("km", b, random);
                case 1 -> pick("km", a, random) + " != 3";
                case 2 -> pick("s", b, random) + " is null or " + pick("k", a, random) + " > 1";
                case 3 -> "%s + %s < 8".formatted(pick("km", a, random), pick("km", b, random));
                case 4 ->
                    "not (%s = %s and %s = 2)"
                            .formatted(
                                    pick("s", a, random),
                                    pick("s", b, random),
                                    pick("m", b, random));
                case 5 ->
                    "%s is not null and %s < 5"
                            .formatted(pick("s", b, random), pick("km", a, random));
                default -> "%s * 2 >= %s".formatted(pick("m", b, random), pick("k", b, random));
            };
            where.add(condition(text));
        }
        return where;
    }

    private static QueryRequest select(List<String> names) {
        return new QueryRequest(
                List.of(),
                List.of(),
                names,
                false,
                List.of(),
                null,
                List.of(),
                QueryRequest.NO_LIMIT,
                null);
    }

    private static Part joined(Shape shape, Part a, Part b, SplittableRandom random) {
        List<JoinPlan.Equal> on = equalities(shape, a, b, random);
        List<Expression> where = conditions(a, b, random);
        JoinPlan.Request request = inner(on, where, on.isEmpty() && where.isEmpty());
        boolean isOver = random.nextInt(3) == 0;
        List<Integer> numbers = new ArrayList<>(a.numbers());
        numbers.addAll(b.numbers());
        Tree join = options ->
                JoinPlan.of(a.tree().plan(options), b.tree().plan(options), request, options);
        if (!isOver) {
            return new Part(join, numbers);
        }
        // a query between that names all fields, in another order
        long seed = random.nextLong();
        return new Part(
                options -> {
                    ResultPlan below = join.plan(options);
                    List<String> names = new ArrayList<>();
                    below.rowType().declared().forEach(field -> names.add(field.name()));
                    Collections.shuffle(names, new Random(seed));
                    return Plan.over(below, select(seed % 3 == 0 ? List.of() : names), options);
                },
                numbers);
    }

    private static Tree random(Shape shape, int count, SplittableRandom random) {
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            parts.add(relation(i, random));
        }
        while (parts.size() > 2) {
            Part a = parts.remove(random.nextInt(parts.size()));
            Part b = parts.remove(random.nextInt(parts.size()));
            parts.add(random.nextInt(parts.size() + 1), joined(shape, a, b, random));
        }
        Part a = parts.get(0);
        Part b = parts.get(1);
        List<JoinPlan.Equal> on = equalities(shape, a, b, random);
        List<Expression> where = conditions(a, b, random);
        JoinPlan.Request request = inner(on, where, on.isEmpty() && where.isEmpty());
        return options ->
                JoinPlan.of(a.tree().plan(options), b.tree().plan(options), request, options);
    }

    private static JoinTree.Pair shuffled(JoinTree written, SplittableRandom random) {
        List<JoinTree> parts = new ArrayList<>();
        for (int leaf = 0; leaf < Long.bitCount(written.mask()); leaf++) {
            parts.add(new JoinTree.Leaf(leaf));
        }
        while (parts.size() > 1) {
            JoinTree a = parts.remove(random.nextInt(parts.size()));
            JoinTree b = parts.remove(random.nextInt(parts.size()));
            parts.add(JoinTree.Pair.of(a, b));
        }
        return (JoinTree.Pair) parts.getFirst();
    }

    private static JoinOrder.Chosen chosen(JoinPlan plan, @Nullable JoinTree tree) {
        JoinGraph graph = Objects.requireNonNull(JoinGraph.of(plan));
        double[] rows = new double[graph.leaves().size()];
        return new JoinOrder.Chosen(
                graph,
                JoinEstimates.ofRows(graph, rows),
                tree == null ? graph.written() : tree,
                1,
                1,
                tree == null);
    }

    private static List<String> rows(ResultPlan plan) {
        List<String> rows = new ArrayList<>();
        try (Rows read = plan.rows()) {
            while (read.next()) {
                rows.add(read.row().toMap().toString());
            }
        }
        rows.sort(null);
        return rows;
    }

    private static ResultPlan over(ResultPlan plan, List<String> names, RunOptions options) {
        return names.isEmpty() ? plan : Plan.over(plan, select(names), options);
    }

    @Test
    void every_order_gives_the_rows_of_the_written_one() {
        long seed = Seeds.of("JoinOrderTest");
        SplittableRandom random = new SplittableRandom(seed);
        int found = 0;
        for (int round = 0; round < Tier.count(60, 300, 20_000); round++) {
            String as = Seeds.replay("JoinOrderTest", seed) + " round " + round;
            Shape shape = Shape.values()[random.nextInt(Shape.values().length)];
            Tree tree = random(shape, 3 + random.nextInt(3), random);
            boolean spills = random.nextInt(8) == 0;
            RunOptions options = spills
                    ? RunOptions.defaults()
                            .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                            .withSpill(disk, "spill")
                    : RunOptions.defaults();
            JoinPlan written = (JoinPlan) tree.plan(options);
            List<String> names = new ArrayList<>();
            if (random.nextInt(3) == 0) {
                written.rowType().declared().stream()
                        .filter(_ -> random.nextBoolean())
                        .forEach(field -> names.add(field.name()));
            }
            ResultPlan whole = over(written, names, options);
            written.joinAs(chosen(written, null));
            List<String> expected = rows(whole);
            found += expected.isEmpty() ? 0 : 1;
            for (int i = 0; i < 6; i++) {
                JoinPlan other = (JoinPlan) tree.plan(options);
                ResultPlan read = over(other, names, options);
                JoinTree order = shuffled(chosen(other, null).tree(), random);
                other.joinAs(chosen(other, order));
                assertThat(read.rowType()).as(as).isEqualTo(whole.rowType());
                assertThat(rows(read)).as("%s %s", as, order).isEqualTo(expected);
            }
        }
        assertThat(found).as("rounds with rows").isGreaterThan(Tier.count(8, 40, 3_000));
        assertThat(disk.files()).isEmpty();
    }

    // ---- which order ----------------------------------------------------------------------------

    /** All orders of some relations, without pairs that nothing connects. */
    private static List<JoinTree> orders(JoinEstimates estimates, long mask) {
        List<JoinTree> all = new ArrayList<>();
        if (Long.bitCount(mask) == 1) {
            all.add(new JoinTree.Leaf(Long.numberOfTrailingZeros(mask)));
            return all;
        }
        for (long a = mask - 1 & mask; a > 0; a = a - 1 & mask) {
            long b = mask ^ a;
            if (a > b && estimates.areConnected(a, b)) {
                for (JoinTree left : orders(estimates, a)) {
                    for (JoinTree right : orders(estimates, b)) {
                        all.add(JoinTree.Pair.of(left, right));
                    }
                }
            }
        }
        return all;
    }

    private static double cost(JoinEstimates estimates, JoinTree tree) {
        return switch (tree) {
            case JoinTree.Leaf _ -> 0;
            case JoinTree.Pair(JoinTree a, JoinTree b, var _) ->
                cost(estimates, a) + cost(estimates, b) + estimates.cost(a.mask(), b.mask());
        };
    }

    private static boolean crosses(JoinEstimates estimates, JoinTree tree) {
        return tree instanceof JoinTree.Pair(JoinTree a, JoinTree b, var _)
                && (!estimates.areConnected(a.mask(), b.mask())
                        || crosses(estimates, a)
                        || crosses(estimates, b));
    }

    @Test
    void the_cheapest_of_all_orders_is_taken() {
        long seed = Seeds.of("JoinOrderTest.cheapest");
        SplittableRandom random = new SplittableRandom(seed);
        int others = 0;
        for (int round = 0; round < Tier.count(30, 100, 6_000); round++) {
            String as = Seeds.replay("JoinOrderTest.cheapest", seed) + " round " + round;
            Shape shape = Shape.values()[random.nextInt(3)];
            JoinPlan plan = (JoinPlan)
                    random(shape, 3 + random.nextInt(3), random).plan(RunOptions.defaults());
            JoinGraph graph = Objects.requireNonNull(JoinGraph.of(plan));
            double[] rows = new double[graph.leaves().size()];
            for (int i = 0; i < rows.length; i++) {
                rows[i] = Math.rint(Math.exp(random.nextDouble() * 12));
            }
            JoinEstimates estimates = JoinEstimates.ofRows(graph, rows);
            if (estimates.components().size() > 1) {
                continue;
            }
            JoinOrder.Chosen chosen = JoinOrder.of(graph, estimates);
            double cheapest = orders(estimates, graph.written().mask()).stream()
                    .mapToDouble(tree -> cost(estimates, tree))
                    .min()
                    .orElseThrow();
            assertThat(chosen.cost()).as(as).isCloseTo(cheapest, within(cheapest * 1e-9));
            assertThat(crosses(estimates, chosen.tree())).as(as).isFalse();
            // by enough, or it stays as it is written
            if (chosen.isWritten()) {
                assertThat(chosen.cost()).as(as).isGreaterThanOrEqualTo(0.8 * chosen.writtenCost());
            } else {
                assertThat(chosen.cost()).as(as).isLessThan(0.8 * chosen.writtenCost());
                others++;
            }
        }
        assertThat(others).isPositive();
    }

    /** A relation of so many rows with some fields, for estimates. */
    private static Tree ofRows(int number, int count) {
        RecordType type = RecordType.builder()
                .field("k" + number, "int32?")
                .field("m" + number, "int32?")
                .build();
        Slice row =
                Slice.of(new RecordWriter(type).write(Map.of("k" + number, 1)).toByteArray());
        return options -> new ValuesPlan(type, Collections.nCopies(count, row), options);
    }

    private static Tree chain(int count, int rows) {
        Tree all = ofRows(0, rows);
        for (int i = 1; i < count; i++) {
            Tree left = all;
            Tree right = ofRows(i, rows);
            JoinPlan.Request request =
                    inner(List.of(new JoinPlan.Equal("k" + (i - 1), "m" + i)), List.of(), false);
            all = options -> JoinPlan.of(left.plan(options), right.plan(options), request, options);
        }
        return all;
    }

    @Test
    void many_relations_are_joined_by_the_fewest_rows_and_without_all_pairs() {
        JoinPlan plan = (JoinPlan) chain(20, 300).plan(RunOptions.defaults());
        JoinOrder.Chosen chosen = Objects.requireNonNull(JoinOrder.of(plan));
        assertThat(chosen.tree().mask()).isEqualTo((1L << 20) - 1);
        assertThat(crosses(chosen.estimates(), chosen.tree())).isFalse();
    }

    @Test
    void what_nothing_connects_is_joined_last() {
        JoinPlan.Request all = inner(List.of(), List.of(), true);
        JoinPlan.Request equal = inner(List.of(new JoinPlan.Equal("k0", "k2")), List.of(), false);
        RunOptions options = RunOptions.defaults();
        JoinPlan pairs = JoinPlan.of(
                ofRows(0, 1_000).plan(options), ofRows(1, 1_000).plan(options), all, options);
        JoinPlan plan = JoinPlan.of(pairs, ofRows(2, 10).plan(options), equal, options);
        JoinOrder.Chosen chosen = Objects.requireNonNull(JoinOrder.of(plan));
        assertThat(chosen.isWritten()).isFalse();
        assertThat(chosen.tree())
                .isInstanceOfSatisfying(
                        JoinTree.Pair.class,
                        top -> assertThat(List.of(top.left().mask(), top.right().mask()))
                                .containsExactlyInAnyOrder(0b101L, 0b010L));
        assertThat(plan.choices())
                .hasSize(2)
                .extracting(Plan.Choice::access)
                .containsExactly(
                        "join order (rows#2, (rows#1, rows#3))",
                        "as written ((rows#1, rows#2), rows#3)");
        assertThat(plan.choices()).extracting(Plan.Choice::chosen).containsExactly(true, false);
    }

    @Test
    void two_relations_and_few_rows_stay_as_they_are_written() {
        assertThat(JoinOrder.of((JoinPlan) chain(2, 300).plan(RunOptions.defaults())))
                .isNull();
        assertThat(JoinOrder.of((JoinPlan) chain(3, 50).plan(RunOptions.defaults())))
                .isNull();
        assertThat(JoinOrder.of((JoinPlan) chain(3, 100).plan(RunOptions.defaults())))
                .isNotNull();
    }
}
