package io.turbidite.ops;

import io.turbidite.core.key.KeyForm;
import io.turbidite.core.record.RandomValues;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.plan.QueryRequest;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A random type, records of few different values so that queries hit, random indexes; and queries.
 */
final class RandomSource {
    private static final List<TypeKind> KINDS =
            Arrays.stream(TypeKind.values()).filter(TypeKind::isScalar).toList();
    private static final List<String> WORDS =
            List.of("Paris", "paris", "Zürich", "north", "NORTH-WEST", "gate 7", "a\u0301", "x");

    private final SplittableRandom random;
    private final RandomValues values;
    private final RecordType type;
    private final List<String> primaryKey;
    private final Map<String, List<Object>> pools = new HashMap<>();
    private final List<String> single = new ArrayList<>();
    private final List<String> arrays = new ArrayList<>();
    private final MemorySource source;

    RandomSource(SplittableRandom random) {
        this.random = random;
        this.values = new RandomValues(random);
        RecordType.Builder fields = RecordType.builder();
        primaryKey = random.nextInt(3) == 0 ? List.of("k0", "k1") : List.of("k0");
        for (String key : primaryKey) {
            fields.field(key, kind().label());
        }
        for (int i = 0; i < 4; i++) {
            fields.field("f" + i, kind().label() + (random.nextInt(3) > 0 ? "?" : ""));
        }
        fields.field("place", "point?")
                .field("spot", "point(lonlat)?")
                .field("area", "rectangle?")
                .field("text", "string?");
        fields.field("f8", "[" + kind().label() + "]?")
                .field(
                        "f9",
                        "{f5: %s?, f6: [%s], f7: {f4: %s}?}?"
                                .formatted(kind().label(), kind().label(), kind().label()));
        type = fields.build();
        for (Field field : type.fields()) {
            if (field.kind().isScalar()) {
                pools.put(field.name(), pool(field));
                single.add(field.name());
            }
            if (field.kind() == TypeKind.ARRAY) {
                arrays.add(field.name());
                pools.put(field.name() + "[]", pool(field.as("x", true)));
            }
        }
        source = new MemorySource(
                type, primaryKey, some(single, 0, 2), indexes(), 1 + random.nextInt(4));
        fill();
    }

    private TypeKind kind() {
        return KINDS.get(random.nextInt(KINDS.size()));
    }

    private List<Object> pool(Field field) {
        List<Object> pool = new ArrayList<>();
        int count = primaryKey.contains(field.name()) ? 60 : 1 + random.nextInt(12);
        for (int i = 0; i < count; i++) {
            pool.add(
                    switch (field.name()) {
                        case "spot" -> new Point(longitude(), latitude());
                        case "place" -> new Point(coordinate(), coordinate());
                        case "area" -> rectangle();
                        case "text" -> text();
                        default ->
                            values.value(
                                    field.kind() == TypeKind.ARRAY
                                            ? field.elementKind()
                                            : field.kind());
                    });
        }
        return pool;
    }

    /** A multiple of a quarter, so that cell arithmetic is exact. */
    private double coordinate() {
        return random.nextInt(-40, 41) / 4.0;
    }

    private double longitude() {
        return random.nextInt(-4, 5) * 45.0;
    }

    private double latitude() {
        return random.nextInt(-4, 5) * 22.5;
    }

    private Predicate spot() {
        double y = latitude();
        double top = Math.min(90, y + random.nextInt(5) * 22.5);
        return switch (random.nextInt(3)) {
            case 0 -> Predicates.within("spot", longitude(), y, longitude(), top);
            case 1 -> Predicates.distance("spot", longitude(), y, (1 + random.nextInt(40)) * 5e5);
            default -> Predicates.within("spot", -180, y, longitude(), top);
        };
    }

    private Rectangle rectangle() {
        double x = coordinate();
        double y = coordinate();
        return new Rectangle(x, y, x + random.nextInt(20) / 4.0, y + random.nextInt(20) / 4.0);
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(5); i > 0; i--) {
            text.append(random.nextInt(3) == 0 ? ", " : " ")
                    .append(WORDS.get(random.nextInt(WORDS.size())));
        }
        return text.toString();
    }

    private List<IndexDescription> indexes() {
        List<IndexDescription> indexes = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            List<String> on = withElements(some(single, 1, 3));
            boolean isMultiValued = on.stream().anyMatch(field -> field.endsWith("[]"));
            indexes.add(new IndexDescription(
                    "by" + i,
                    IndexDescription.Kind.BTREE,
                    on,
                    random.nextBoolean(),
                    KeyForm.CURRENT,
                    isMultiValued,
                    Map.of()));
        }
        if (random.nextInt(3) == 0) {
            indexes.add(rtree("near", "place"));
        }
        if (random.nextInt(3) == 0) {
            indexes.add(rtree("round", "spot"));
        }
        if (random.nextInt(3) == 0) {
            indexes.add(rtree("over", "area"));
        }
        return indexes;
    }

    private IndexDescription rtree(String name, String field) {
        return new IndexDescription(
                name,
                IndexDescription.Kind.RTREE,
                List.of(field),
                random.nextBoolean(),
                KeyForm.CURRENT,
                true,
                Map.of());
    }

    /** Some different fields. */
    private List<String> some(List<String> fields, int countMin, int countMax) {
        LinkedHashSet<String> names = new LinkedHashSet<>();
        int count = random.nextInt(countMin, countMax + 1);
        while (names.size() < count) {
            names.add(fields.get(random.nextInt(fields.size())));
        }
        return List.copyOf(names);
    }

    /** The same; one of them may be the elements of an array in its place. */
    private List<String> withElements(List<String> fields) {
        List<String> changed = new ArrayList<>(fields);
        if (random.nextInt(3) == 0) {
            changed.set(random.nextInt(changed.size()), anyElements());
        }
        return changed;
    }

    private String anyElements() {
        return arrays.get(random.nextInt(arrays.size())) + "[]";
    }

    /** A field, or the elements of an array. */
    private String anyField() {
        return random.nextInt(5) == 0 ? anyElements() : single.get(random.nextInt(single.size()));
    }

    /** What a query may name for its rows; none lies in another. */
    private List<String> selection() {
        List<String> fields = new ArrayList<>(single);
        fields.removeIf(field -> field.startsWith("f9"));
        fields.add(random.nextBoolean() ? "f8" : "f8[]");
        fields.add(List.of("f9", "f9.f5", "f9.f6", "f9.f7", "f9.f7.f4").get(random.nextInt(5)));
        return some(fields, 1, 4);
    }

    private void fill() {
        int count = random.nextInt(4) == 0 ? random.nextInt(4) : random.nextInt(250);
        for (int i = 0; i < count; i++) {
            Map<String, @Nullable Object> record = fields("", type.declared());
            if (random.nextInt(5) == 0) {
                record.put("open", values.string());
            }
            source.upsert(record);
            if (random.nextInt(10) == 0) {
                source.delete(primaryKey.stream().map(record::get).toArray());
            }
        }
    }

    private Map<String, @Nullable Object> fields(String before, List<Field> declared) {
        Map<String, @Nullable Object> record = new LinkedHashMap<>();
        for (Field field : declared) {
            int state = field.optional() ? random.nextInt(6) : 2;
            if (state > 0) {
                record.put(field.name(), state == 1 ? null : value(before + field.name(), field));
            }
        }
        return record;
    }

    private Object value(String path, Field field) {
        return switch (field.kind()) {
            case ARRAY -> {
                List<Object> elements = new ArrayList<>();
                for (int i = random.nextInt(4); i > 0; i--) {
                    elements.add(pooled(path + "[]"));
                }
                yield elements;
            }
            case RECORD -> fields(path + ".", field.members());
            default -> pooled(path);
        };
    }

    private Object pooled(String field) {
        List<Object> pool = pools.getOrDefault(field, List.of());
        return pool.get(random.nextInt(pool.size()));
    }

    MemorySource source() {
        return source;
    }

    /** Ways in to ask for: none, the scan, each index, and all sets of several. */
    List<String> accesses() {
        List<String> accesses = new ArrayList<>(List.of("", QueryRequest.SCAN));
        List<String> names =
                source.indexes().stream().map(IndexDescription::name).toList();
        for (int some = 1; some < 1 << names.size(); some++) {
            List<String> together = new ArrayList<>();
            for (int i = 0; i < names.size(); i++) {
                if ((some >> i & 1) != 0) {
                    together.add(names.get(i));
                }
            }
            accesses.add(String.join(QueryRequest.AND, together));
        }
        return accesses;
    }

    NaiveQuery query() {
        List<Predicate> predicates = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            predicates.add(predicate());
        }
        if (random.nextInt(6) == 0) {
            primaryKey.forEach(key -> predicates.add(new Predicate.Eq(key, pooled(key))));
        }
        int shape = random.nextInt(6);
        List<String> select = shape == 1 ? selection() : List.of();
        boolean count = shape == 2;
        List<String> groupBy =
                shape == 3 || shape == 4 ? withElements(some(single, 1, 2)) : List.of();
        QueryRequest.Cells cells = shape == 5
                ? new QueryRequest.Cells(
                        "place", 0.5 * (1 + random.nextInt(9)), 0.5 * (1 + random.nextInt(9)))
                : null;
        List<QueryRequest.OrderBy> order = new ArrayList<>();
        if (!count && random.nextBoolean()) {
            order.addAll(order(groupBy, cells != null));
        }
        long limit = random.nextInt(3) == 0 ? random.nextInt(20) : QueryRequest.NO_LIMIT;
        if (shape < 2 && !order.isEmpty() && random.nextBoolean()) {
            limit = 1L + random.nextInt(8);
        }
        boolean isNear = shape < 2 && random.nextInt(3) == 0;
        QueryRequest.Near near = !isNear
                ? null
                : random.nextInt(3) == 0
                        ? new QueryRequest.Near("spot", longitude(), latitude())
                        : new QueryRequest.Near(
                                random.nextInt(3) == 0 ? "area" : "place",
                                coordinate(),
                                coordinate());
        return new NaiveQuery(new QueryRequest(
                predicates,
                List.of(),
                select,
                count,
                groupBy,
                cells,
                List.of(),
                isNear ? List.of() : order,
                near,
                isNear ? 1 + random.nextInt(20) : limit,
                null));
    }

    private List<QueryRequest.OrderBy> order(List<String> groupBy, boolean cells) {
        List<String> names = new ArrayList<>();
        if (cells) {
            names.addAll(List.of("cell", "count"));
        } else if (!groupBy.isEmpty()) {
            names.addAll(groupBy);
            names.add("count");
        } else if (random.nextInt(3) == 0 && !source.indexes().isEmpty()) {
            List<IndexDescription> indexes = source.indexes();
            names.addAll(indexes.get(random.nextInt(indexes.size())).fields().stream()
                    .filter(single::contains)
                    .toList());
            primaryKey.stream().filter(key -> !names.contains(key)).forEach(names::add);
        } else if (random.nextInt(3) == 0) {
            names.addAll(primaryKey);
        } else {
            names.addAll(some(single, 1, 2));
        }
        List<QueryRequest.OrderBy> order = new ArrayList<>();
        boolean isOneWay = random.nextBoolean();
        boolean first = random.nextBoolean();
        for (int i = random.nextInt(names.size()); i >= 0; i--) {
            boolean descending = isOneWay ? first : random.nextBoolean();
            order.addFirst(new QueryRequest.OrderBy(names.get(i), descending));
        }
        return order;
    }

    private Predicate predicate() {
        return switch (random.nextInt(10)) {
            case 9 -> spot();
            case 8 ->
                new Predicate.Distance(
                        random.nextBoolean() ? "place" : "area",
                        coordinate(),
                        coordinate(),
                        (1 + random.nextInt(30)) / 4.0);
            case 0 -> new Predicate.Within("place", rectangle());
            case 1 -> new Predicate.Within("area", rectangle());
            case 2 ->
                new Predicate.Contains(
                        "text",
                        WORDS.get(random.nextInt(WORDS.size()))
                                + " "
                                + (random.nextBoolean()
                                        ? WORDS.get(random.nextInt(WORDS.size()))
                                        : ""));
            case 3, 4 -> {
                String field = anyField();
                yield new Predicate.Eq(field, random.nextInt(8) == 0 ? null : constant(field));
            }
            default -> {
                String field = anyField();
                yield new Predicate.Range(
                        field,
                        random.nextInt(4) == 0 ? null : bound(field),
                        random.nextInt(4) == 0 ? null : bound(field));
            }
        };
    }

    private Object bound(String field) {
        Object value = constant(field);
        return random.nextInt(3) == 0 ? new Predicate.Excluded(value) : value;
    }

    private Object constant(String field) {
        return random.nextInt(6) == 0
                ? values.value(type.field(type.indexOf(field)).kind())
                : pooled(field);
    }
}
