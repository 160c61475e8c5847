package io.turbidite.ops;

import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Random trees of relations, each with the rows that it has: worked out one by one, on the heap.
 * Fields are whole numbers, or texts; null is as good as missing.
 */
final class RandomRelation {
    static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("a", "int64?")
            .field("b", "int64?")
            .field("s", "string?")
            .build();

    private final SplittableRandom random;
    private final List<MemorySource> sources;
    private final List<List<Map<String, @Nullable Object>>> records;
    private int nextName;

    /**
     * A relation and what it must give.
     *
     * @param numbers names of whole numbers
     * @param texts names of texts
     */
    record Node(
            Relation relation,
            List<String> numbers,
            List<String> texts,
            List<Map<String, @Nullable Object>> rows) {
        List<String> names() {
            List<String> names = new ArrayList<>(numbers);
            names.addAll(texts);
            return names;
        }
    }

    RandomRelation(SplittableRandom random, int rowsMax) {
        this.random = random;
        this.sources = new ArrayList<>();
        this.records = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            MemorySource source =
                    new MemorySource(TYPE, List.of("id"), List.of(), List.of(), 1 + i);
            List<Map<String, @Nullable Object>> all = new ArrayList<>();
            int values = 1 + random.nextInt(12);
            for (long id = random.nextInt(rowsMax); id > 0; id--) {
                Map<String, @Nullable Object> row = new LinkedHashMap<>();
                row.put("id", id);
                put(row, "a", (long) random.nextInt(values));
                put(row, "b", (long) random.nextInt(3 * values) - values);
                put(row, "s", "t" + random.nextInt(values));
                source.upsert(row);
                all.add(row);
            }
            sources.add(source);
            records.add(all);
        }
    }

    private void put(Map<String, @Nullable Object> row, String name, Object value) {
        switch (random.nextInt(8)) {
            case 0 -> {}
            case 1 -> row.put(name, null);
            default -> row.put(name, value);
        }
    }

    /** Readers of the sources that were not closed. */
    int openCount() {
        return sources.stream().mapToInt(source -> source.openCount.get()).sum();
    }

    /** Without what is null. */
    static Map<String, @Nullable Object> plain(Map<String, @Nullable Object> row) {
        Map<String, @Nullable Object> plain = new LinkedHashMap<>(row);
        plain.values().removeIf(Objects::isNull);
        return plain;
    }

    Node tree(int depth) {
        if (depth == 0) {
            return leaf();
        }
        return switch (random.nextInt(8)) {
            case 5 -> distinct(tree(depth - 1));
            case 6, 7 -> set(tree(depth - 1), tree(random.nextInt(depth)));
            case 0 -> selected(tree(depth - 1));
            case 1 -> grouped(tree(depth - 1));
            case 2 -> first(tree(depth - 1), random.nextInt(60));
            default -> few(joined(tree(depth - 1), tree(random.nextInt(depth))));
        };
    }

    /** Pairs of pairs would be too many. */
    private Node few(Node pairs) {
        return pairs.rows().size() < 400 ? pairs : first(pairs, 100);
    }

    private String newName() {
        return "f" + nextName++;
    }

    private String any(List<String> names) {
        return names.get(random.nextInt(names.size()));
    }

    private Node leaf() {
        if (random.nextInt(8) == 0) {
            return values();
        }
        int which = random.nextInt(sources.size());
        Query query = Query.on((Source) sources.get(which));
        Node all = new Node(query, List.of("id", "a", "b"), List.of("s"), records.get(which));
        return renamed(all, query, all.rows());
    }

    private Node values() {
        String number = newName();
        String text = newName();
        RecordType type = RecordType.builder()
                .field(number, "int64?")
                .field(text, "string?")
                .build();
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (int i = random.nextInt(12); i > 0; i--) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            put(row, number, (long) random.nextInt(6));
            put(row, text, "t" + random.nextInt(6));
            rows.add(row);
        }
        return new Node(Values.of(type, rows), List.of(number), List.of(text), rows);
    }

    /** Some of the fields, each row once. */
    private Node distinct(Node from) {
        Query query = Query.on(from.relation()).distinct();
        List<String> numbers = some(from.numbers(), 2);
        List<String> texts = some(from.texts(), 1);
        numbers.forEach(query::select);
        texts.forEach(query::select);
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Map<String, @Nullable Object> row : from.rows()) {
            Map<String, @Nullable Object> part = new LinkedHashMap<>();
            numbers.forEach(name -> part.put(name, row.get(name)));
            texts.forEach(name -> part.put(name, row.get(name)));
            if (!rows.contains(part)) {
                rows.add(part);
            }
        }
        return new Node(query, numbers, texts, rows);
    }

    private static List<String> some(List<String> names, int countMax) {
        return names.subList(0, Math.min(countMax, names.size()));
    }

    private Node set(Node first, Node second) {
        int texts = Math.min(first.texts().size(), Math.min(1, second.texts().size()));
        int numbers =
                Math.min(first.numbers().size(), Math.min(2, second.numbers().size()));
        Node a = part(first, numbers, texts);
        Node b = part(second, numbers, texts);
        List<List<@Nullable Object>> left = listed(a);
        List<List<@Nullable Object>> right = listed(b);
        List<List<@Nullable Object>> rows = new ArrayList<>();
        int operation = random.nextInt(6);
        SetOperation set = switch (operation) {
            case 0 -> SetOperation.unionAll(a.relation(), b.relation());
            case 1 -> SetOperation.union(a.relation(), b.relation());
            case 2 -> SetOperation.intersect(a.relation(), b.relation());
            case 3 -> SetOperation.intersectAll(a.relation(), b.relation());
            case 4 -> SetOperation.except(a.relation(), b.relation());
            default -> SetOperation.exceptAll(a.relation(), b.relation());
        };
        if (operation <= 1) {
            rows.addAll(left);
            rows.addAll(right);
        } else {
            for (List<@Nullable Object> row : left) {
                boolean both = (operation == 3 || operation == 5)
                        ? right.remove(row)
                        : right.contains(row);
                if (both == operation <= 3) {
                    rows.add(row);
                }
            }
        }
        if (operation == 1 || operation == 2 || operation == 4) {
            rows = new ArrayList<>(new LinkedHashSet<>(rows));
        }
        List<Map<String, @Nullable Object>> named = new ArrayList<>();
        for (List<@Nullable Object> row : rows) {
            Map<String, @Nullable Object> to = new LinkedHashMap<>();
            for (int i = 0; i < row.size(); i++) {
                to.put(a.names().get(i), row.get(i));
            }
            named.add(to);
        }
        return new Node(set, a.numbers(), a.texts(), named);
    }

    /** The first fields alone. */
    private static Node part(Node of, int numberCount, int textCount) {
        List<String> numbers = some(of.numbers(), numberCount);
        List<String> texts = some(of.texts(), textCount);
        Query query = Query.on(of.relation()).select(numbers).select(texts);
        return new Node(query, numbers, texts, of.rows());
    }

    private static List<List<@Nullable Object>> listed(Node node) {
        List<List<@Nullable Object>> listed = new ArrayList<>();
        for (Map<String, @Nullable Object> row : node.rows()) {
            List<@Nullable Object> values = new ArrayList<>();
            node.names().forEach(name -> values.add(row.get(name)));
            listed.add(values);
        }
        return listed;
    }

    /** Every field under a new name. */
    private Node renamed(Node from, Query query, List<Map<String, @Nullable Object>> rows) {
        Map<String, String> names = new HashMap<>();
        for (String name : from.names()) {
            names.put(name, newName());
            query.select(name + " as " + names.get(name));
        }
        List<Map<String, @Nullable Object>> out = new ArrayList<>();
        for (Map<String, @Nullable Object> row : rows) {
            Map<String, @Nullable Object> to = new LinkedHashMap<>();
            names.forEach((name, as) -> to.put(as, row.get(name)));
            out.add(to);
        }
        return new Node(query, all(from.numbers(), names), all(from.texts(), names), out);
    }

    private static List<String> all(List<String> from, Map<String, String> names) {
        return from.stream().map(names::get).toList();
    }

    private Node selected(Node from) {
        String number = any(from.numbers());
        int least = random.nextInt(8) - 2;
        Query query = Query.on(from.relation()).where(number + " > " + least);
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Map<String, @Nullable Object> row : from.rows()) {
            if (row.get(number) instanceof Long value && value > least) {
                rows.add(row);
            }
        }
        if (random.nextBoolean()) {
            return new Node(query, from.numbers(), from.texts(), rows);
        }
        String sum = newName();
        for (String name : from.names()) {
            query.select(name);
        }
        query.select(number + " * 2 + 1 as " + sum);
        List<Map<String, @Nullable Object>> out = new ArrayList<>();
        for (Map<String, @Nullable Object> row : rows) {
            Map<String, @Nullable Object> to = new LinkedHashMap<>(row);
            to.put(sum, (Long) Objects.requireNonNull(row.get(number)) * 2 + 1);
            out.add(to);
        }
        List<String> numbers = new ArrayList<>(from.numbers());
        numbers.add(sum);
        return new Node(query, numbers, from.texts(), out);
    }

    private Node grouped(Node from) {
        String by = any(from.names());
        String of = any(from.numbers());
        String count = newName();
        String most = newName();
        Query query = Query.on(from.relation())
                .groupBy(by)
                .aggregate(
                        Aggregate.count().where(of + " > 1").as(count),
                        Aggregate.max(of).as(most));
        Map<@Nullable Object, Map<String, @Nullable Object>> groups = new LinkedHashMap<>();
        for (Map<String, @Nullable Object> row : from.rows()) {
            Map<String, @Nullable Object> group =
                    groups.computeIfAbsent(row.get(by), _ -> new LinkedHashMap<>());
            group.put(by, row.get(by));
            long counted = row.get(of) instanceof Long value && value > 1 ? 1 : 0;
            group.put(count, group.get(count) instanceof Long n ? n + counted : counted);
            if (row.get(of) instanceof Long value) {
                group.put(most, group.get(most) instanceof Long m ? Math.max(m, value) : value);
            }
        }
        List<String> numbers = new ArrayList<>(List.of(count, most));
        if (from.numbers().contains(by)) {
            numbers.add(by);
        }
        return new Node(
                query,
                numbers,
                from.texts().contains(by) ? List.of(by) : List.of(),
                new ArrayList<>(groups.values()));
    }

    /** The first in the order of all fields; all where the limit is large. */
    private Node first(Node from, int limit) {
        Query query = Query.on(from.relation());
        Comparator<Map<String, @Nullable Object>> order = (_, _) -> 0;
        for (String name : from.names()) {
            boolean isDescending = random.nextBoolean();
            boolean isNullFirst = random.nextBoolean();
            query.orderBy(
                    name,
                    isDescending ? Order.DESC : Order.ASC,
                    isNullFirst ? Nulls.FIRST : Nulls.LAST);
            order = order.thenComparing(
                    (a, b) -> compare(a.get(name), b.get(name), isDescending, isNullFirst));
        }
        List<Map<String, @Nullable Object>> rows = new ArrayList<>(from.rows());
        rows.sort(order);
        if (limit < 30 || limit == 100) {
            int offset = Math.min(rows.size(), random.nextInt(3) * random.nextInt(10));
            query.limit(limit).offset(offset);
            rows = new ArrayList<>(rows.subList(offset, Math.min(offset + limit, rows.size())));
        }
        return new Node(query, from.numbers(), from.texts(), rows);
    }

    private static int compare(
            @Nullable Object a, @Nullable Object b, boolean isDescending, boolean isNullFirst) {
        if (a == null || b == null) {
            int order = (a == null ? 0 : 1) - (b == null ? 0 : 1);
            return isNullFirst ? order : -order;
        }
        int order = a instanceof Long x && b instanceof Long y
                ? x.compareTo(y)
                : a.toString().compareTo(b.toString());
        return isDescending ? -order : order;
    }

    private Node joined(Node left, Node right) {
        boolean isText =
                !left.texts().isEmpty() && !right.texts().isEmpty() && random.nextInt(3) == 0;
        String a = any(isText ? left.texts() : left.numbers());
        // both may read the same part of the tree
        Node other = renamed(right, Query.on(right.relation()), right.rows());
        String b = any(isText ? other.texts() : other.numbers());
        int kind = random.nextInt(6);
        Join join = switch (kind) {
            case 4 -> Join.full(left.relation(), other.relation());
            case 5 -> Join.notIn(left.relation(), other.relation());
            case 0 -> Join.inner(left.relation(), other.relation());
            case 1 -> Join.left(left.relation(), other.relation());
            case 2 -> Join.semi(left.relation(), other.relation());
            default -> Join.anti(left.relation(), other.relation());
        };
        join.on(a, b);
        String least = kind != 5 && random.nextInt(3) == 0 ? any(other.numbers()) : "";
        if (!least.isEmpty()) {
            join.where(least + " > 1");
        }
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        Set<Map<String, @Nullable Object>> met = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean hasNull = other.rows().stream().anyMatch(row -> row.get(b) == null);
        for (Map<String, @Nullable Object> row : left.rows()) {
            List<Map<String, @Nullable Object>> partners = new ArrayList<>();
            for (Map<String, @Nullable Object> partner : other.rows()) {
                boolean isTested =
                        least.isEmpty() || (partner.get(least) instanceof Long n && n > 1);
                if (row.get(a) != null && row.get(a).equals(partner.get(b)) && isTested) {
                    met.add(partner);
                    partners.add(partner);
                }
            }
            boolean isUnknown =
                    kind == 5 && !other.rows().isEmpty() && (hasNull || row.get(a) == null);
            if (kind == 2 || kind == 3 || kind == 5) {
                if (partners.isEmpty() == (kind != 2) && !isUnknown) {
                    rows.add(row);
                }
                continue;
            }
            if (partners.isEmpty() && kind != 0) {
                partners.add(Map.of());
            }
            for (Map<String, @Nullable Object> partner : partners) {
                Map<String, @Nullable Object> pair = new LinkedHashMap<>(row);
                pair.putAll(partner);
                rows.add(pair);
            }
        }
        if (kind == 4) {
            other.rows().stream().filter(row -> !met.contains(row)).forEach(rows::add);
        }
        if (kind == 2 || kind == 3 || kind == 5) {
            return new Node(join, left.numbers(), left.texts(), rows);
        }
        List<String> numbers = new ArrayList<>(left.numbers());
        numbers.addAll(other.numbers());
        List<String> texts = new ArrayList<>(left.texts());
        texts.addAll(other.texts());
        return new Node(join, numbers, texts, rows);
    }
}
