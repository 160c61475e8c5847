package io.turbidite.bench.planner;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.lsm.Dataset;
import io.turbidite.ops.Join;
import io.turbidite.ops.Order;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.Relation;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Random questions over flights and tweets, each with all ways that it may go. <em>Confined to one
 * thread.</em>
 */
final class Questions {
    static final String PLANNED = "as planned";
    private static final int SAMPLED = 2_000;

    /** Of one thread, so that its CPU is all there is. */
    private static final RunOptions ALONE =
            RunOptions.builder().lookupWorkers(0).build();

    private final SplittableRandom random;
    private final Map<Dataset, Map<String, List<Object>>> values = new HashMap<>();

    /** Fields that are joined: of which relation to which one. */
    private record Edge(int from, String field, int to, String key) {}

    /** Relations that go together, the largest one first. */
    private record Family(List<Dataset> relations, List<List<String>> asked, List<Edge> edges) {}

    /**
     * A question.
     *
     * @param kind by which questions are reported together
     * @param ways by their names, {@link #PLANNED} first; a way may refuse
     */
    record Question(String kind, String text, Map<String, Way> ways) {
        Relation relation(String way) {
            return Objects.requireNonNull(ways.get(way), way).relation();
        }
    }

    /** Makes what is run; it may refuse with an {@link InvalidRequestException}. */
    interface Way {
        Relation relation();
    }

    private final List<Dataset> single;
    private final List<List<String>> singleFields;
    private final List<Family> families;

    Questions(PlannerStore store, long seed) {
        this.random = new SplittableRandom(seed);
        this.single = List.of(store.flights(), store.tweets());
        this.singleFields = List.of(
                List.of(
                        "tailnum",
                        "carrier",
                        "dest",
                        "distance_mi",
                        "arr_delay_min",
                        "flight",
                        "scheduled_departure",
                        "air_time_min"),
                List.of("author", "created", "a1", "a2", "a3"));
        this.families = List.of(
                new Family(
                        List.of(
                                store.flights(),
                                store.planes(),
                                store.carriers(),
                                store.airports()),
                        List.of(
                                List.of("dest", "arr_delay_min", "tailnum", "distance_mi"),
                                List.of("seats", "maker"),
                                List.of("carrier", "country"),
                                List.of("zone", "airport")),
                        List.of(
                                new Edge(0, "tailnum", 1, "plane"),
                                new Edge(0, "carrier", 2, "carrier"),
                                new Edge(0, "dest", 3, "airport"))),
                new Family(
                        List.of(store.tweets(), store.users(), store.places()),
                        List.of(
                                List.of("author", "a1", "a2", "a3"),
                                List.of("age", "place"),
                                List.of("land")),
                        List.of(
                                new Edge(0, "author", 1, "user"),
                                new Edge(1, "place", 2, "place"))));
    }

    Question next() {
        return random.nextInt(10) < 6 ? ofOne() : joined();
    }

    private <T> T one(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    /** Values of a field, as frequent as they are. */
    private List<Object> values(Dataset dataset, String field) {
        return values.computeIfAbsent(dataset, Questions::sampled).getOrDefault(field, List.of());
    }

    private static Map<String, List<Object>> sampled(Dataset dataset) {
        Map<String, List<Object>> sampled = new HashMap<>();
        try (ReadView view = dataset.openView();
                RecordStream all = view.scan(0, KeyRange.all(), FilterPredicate.none())) {
            RecordView record = new RecordView(dataset.type());
            long count = view.estimateScan(KeyRange.all(), FilterPredicate.none());
            long step = Math.max(1, count / SAMPLED);
            for (long i = 0; all.next(); i++) {
                if (i % step == 0) {
                    record.wrap(all.record()).toMap().forEach((name, value) -> {
                        if (value instanceof Comparable<?>) {
                            sampled.computeIfAbsent(name, _ -> new ArrayList<>())
                                    .add(value);
                        }
                    });
                }
            }
        }
        sampled.values().forEach(Questions::sort);
        return sampled;
    }

    @SuppressWarnings("unchecked")
    private static void sort(List<Object> values) {
        values.sort((a, b) -> ((Comparable<Object>) a).compareTo(b));
    }

    private Predicate predicate(Dataset dataset, String field) {
        List<Object> of = values(dataset, field);
        int at = random.nextInt(of.size());
        if (random.nextInt(5) < 2) {
            return Predicates.eq(field, of.get(at));
        }
        int width = (int) Math.exp(random.nextDouble() * Math.log(of.size()));
        int low = Math.max(0, at - random.nextInt(width + 1));
        return Predicates.range(field, of.get(low), of.get(Math.min(of.size() - 1, low + width)));
    }

    private static String text(Predicate predicate) {
        return switch (predicate) {
            case Predicate.Eq(String field, Object value) -> field + " = " + value;
            case Predicate.Range(String field, Object low, Object high) ->
                "%s from %s to %s".formatted(field, low, high);
            default -> predicate.toString();
        };
    }

    // ---- one dataset ----------------------------------------------------------------------------

    private Question ofOne() {
        int which = random.nextInt(single.size());
        Dataset dataset = single.get(which);
        List<String> fields = new ArrayList<>(singleFields.get(which));
        Collections.shuffle(fields, new Random(random.nextLong()));
        List<Predicate> predicates = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            predicates.add(predicate(dataset, fields.get(i)));
        }
        String by = one(singleFields.get(which));
        long limit = one(List.of(10L, 100L, 1_000L));
        String kind = one(List.of("rows", "count", "groups", "order with a limit", "limit"));
        Function<Query, Query> shape = query -> {
            predicates.forEach(query::where);
            return switch (kind) {
                case "count" -> query.count();
                case "groups" -> query.groupBy(by);
                case "order with a limit" -> query.orderBy(by, Order.ASC).limit(limit);
                case "limit" -> query.limit(limit);
                default -> query.select(singleFields.get(which).subList(0, 3));
            };
        };
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put(PLANNED, () -> shape.apply(Query.on(dataset)).with(ALONE));
        ways.put("scan", () -> shape.apply(Query.on(dataset)).usingScan().with(ALONE));
        List<String> indexes = new ArrayList<>();
        dataset.indexes().forEach(index -> indexes.add(index.name()));
        for (String index : indexes) {
            ways.put(
                    index,
                    () -> shape.apply(Query.on(dataset)).usingIndex(index).with(ALONE));
            for (String other : indexes) {
                if (index.compareTo(other) < 0) {
                    ways.put(
                            index + " and " + other,
                            () -> shape.apply(Query.on(dataset))
                                    .usingIndexes(index, other)
                                    .with(ALONE));
                }
            }
        }
        List<String> texts = predicates.stream().map(Questions::text).toList();
        String text = "%s of %s, %s%s"
                .formatted(
                        kind,
                        dataset.name(),
                        String.join(", ", texts),
                        kind.equals("groups") || kind.startsWith("order") ? " by " + by : "");
        return new Question(kind, text, ways);
    }

    // ---- joins ----------------------------------------------------------------------------------

    private Question joined() {
        Family family = one(families);
        int count = 2 + random.nextInt(family.relations.size() - 1);
        List<Integer> taken = taken(family, count);
        Map<Integer, List<Predicate>> where = new HashMap<>();
        for (int relation : taken) {
            if (random.nextInt(3) > 0) {
                where.put(
                        relation,
                        List.of(predicate(
                                family.relations.get(relation), one(family.asked.get(relation)))));
            }
        }
        List<Integer> written = new ArrayList<>(taken);
        Collections.shuffle(written, new Random(random.nextLong()));
        Map<String, Way> ways = new LinkedHashMap<>();
        ways.put(PLANNED, () -> join(family, written, where, false));
        for (List<Integer> order : orders(taken)) {
            if (isConnected(family, order)) {
                ways.put(names(family, order), () -> join(family, order, where, true));
            }
        }
        List<String> texts = new ArrayList<>();
        where.forEach((_, predicates) -> predicates.forEach(one -> texts.add(text(one))));
        return new Question(
                "join of " + count,
                "%s, %s".formatted(names(family, written), String.join(", ", texts)),
                ways);
    }

    /** Relations that are connected. */
    private List<Integer> taken(Family family, int count) {
        TreeSet<Integer> taken = new TreeSet<>(List.of(0));
        while (taken.size() < count) {
            Edge edge = one(family.edges);
            if (taken.contains(edge.from)) {
                taken.add(edge.to);
            }
        }
        return List.copyOf(taken);
    }

    private static String names(Family family, List<Integer> order) {
        return String.join(
                " join ",
                order.stream().map(i -> family.relations.get(i).name()).toList());
    }

    private static List<List<Integer>> orders(List<Integer> of) {
        if (of.isEmpty()) {
            return List.of(List.of());
        }
        List<List<Integer>> orders = new ArrayList<>();
        for (Integer last : of) {
            List<Integer> rest = new ArrayList<>(of);
            rest.remove(/* element */ last);
            for (List<Integer> before : orders(rest)) {
                List<Integer> order = new ArrayList<>(before);
                order.add(last);
                orders.add(order);
            }
        }
        return orders;
    }

    private static boolean isConnected(Family family, List<Integer> order) {
        for (int i = 1; i < order.size(); i++) {
            if (edges(family, order.subList(0, i), order.get(i)).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    private static List<Edge> edges(Family family, List<Integer> before, int next) {
        return family.edges.stream()
                .filter(edge -> (edge.from == next && before.contains(edge.to))
                        || (edge.to == next && before.contains(edge.from)))
                .toList();
    }

    private static String name(int relation, String field) {
        return "r%d_%s".formatted(relation, field);
    }

    private static Relation side(
            Family family, int relation, @Nullable List<Predicate> predicates) {
        TreeSet<String> fields = new TreeSet<>();
        for (Edge edge : family.edges) {
            if (edge.from == relation) {
                fields.add(edge.field);
            }
            if (edge.to == relation) {
                fields.add(edge.key);
            }
        }
        Query query = Query.on(family.relations.get(relation))
                .select(fields.stream()
                        .map(field -> "(%s) as %s".formatted(field, name(relation, field)))
                        .toList());
        if (predicates != null) {
            predicates.forEach(query::where);
        }
        return query;
    }

    /** From left to right. Joins whose options differ stay in their order. */
    private static Relation join(
            Family family,
            List<Integer> order,
            Map<Integer, List<Predicate>> where,
            boolean stays) {
        Relation all = side(family, order.getFirst(), where.get(order.getFirst()));
        for (int i = 1; i < order.size(); i++) {
            int next = order.get(i);
            List<Edge> edges = edges(family, order.subList(0, i), next);
            Relation right = side(family, next, where.get(next));
            Join join = edges.isEmpty() ? Join.cross(all, right) : Join.inner(all, right);
            for (Edge edge : edges) {
                String from = name(edge.from, edge.field);
                String to = name(edge.to, edge.key);
                var _ = edge.to == next ? join.on(from, to) : join.on(to, from);
            }
            all = !stays
                    ? join
                    : join.with(RunOptions.builder()
                            .lookupWorkers(0)
                            .memoryBytesMax((64L << 20) + i)
                            .build());
        }
        return Query.on(all).count().with(ALONE);
    }
}
