package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.record.RandomValues;
import io.turbidite.core.text.PlainText;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.plan.QueryRequest;
import io.turbidite.ops.plan.QueryRequest.OrderBy;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A query and what it means, told over maps of Java values: every record is looked at, everything
 * is sorted by comparing values. Shares no code with the operators.
 */
record NaiveQuery(QueryRequest request) {
    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}\\p{M}]+");

    /** What came back. */
    record Answer(List<String> rows, Explanation explanation) {
        static Answer read(QueryResult result) {
            List<String> rows = new ArrayList<>();
            while (result.next()) {
                rows.add(show(result.map()));
            }
            return new Answer(rows, result.explain());
        }
    }

    Query query(MemorySource source, String access) {
        return query(source, access, request.predicates());
    }

    /** The same with a parameter for each value; {@link #values} has them. */
    PreparedQuery prepared(MemorySource source, String access, RunOptions options) {
        List<Predicate> open = new ArrayList<>();
        int count = 0;
        for (Predicate predicate : request.predicates()) {
            switch (predicate) {
                case Predicate.Eq(String field, var _) ->
                    open.add(Predicates.eq(field, Predicates.parameter("p" + count++)));
                case Predicate.Range(String field, Object low, Object high) ->
                    open.add(Predicates.range(
                            field, openBound(low, "p" + count++), openBound(high, "p" + count++)));
                case Predicate.Within _,
                        Predicate.Across _,
                        Predicate.Distance _,
                        Predicate.Contains _,
                        Predicate.Matches _ -> open.add(predicate);
            }
        }
        return query(source, access, open).with(options).prepare();
    }

    private static Object openBound(@Nullable Object bound, String name) {
        Predicate.Parameter parameter = Predicates.parameter(name);
        return bound instanceof Predicate.Excluded ? new Predicate.Excluded(parameter) : parameter;
    }

    private static Object bare(Object bound) {
        return bound instanceof Predicate.Excluded(Object value) ? value : bound;
    }

    /** By how many steps a value must be inside a bound. */
    private static int strictness(Object bound) {
        return bound instanceof Predicate.Excluded ? 1 : 0;
    }

    /** What the parameters of {@link #prepared} stand for. */
    @Nullable
    Object[] values() {
        List<@Nullable Object> values = new ArrayList<>();
        for (Predicate predicate : request.predicates()) {
            switch (predicate) {
                case Predicate.Eq(var _, Object value) -> values.add(value);
                case Predicate.Range(var _, Object low, Object high) -> {
                    values.add(low == null ? null : bare(low));
                    values.add(high == null ? null : bare(high));
                }
                case Predicate.Within _,
                        Predicate.Across _,
                        Predicate.Distance _,
                        Predicate.Contains _,
                        Predicate.Matches _ -> {}
            }
        }
        return values.toArray();
    }

    private Query query(MemorySource source, String access, List<Predicate> predicates) {
        Query query = Query.on(source);
        predicates.forEach(query::where);
        query.select(request.select()).groupBy(request.groupBy().toArray(String[]::new));
        if (request.count()) {
            query.count();
        }
        QueryRequest.Cells cells = request.cells();
        if (cells != null) {
            query.groupByCell(cells.field(), cells.dx(), cells.dy());
        }
        for (OrderBy by : request.order()) {
            query.orderBy(by.field(), by.descending() ? Order.DESC : Order.ASC);
        }
        QueryRequest.Near near = request.near();
        if (near != null) {
            query.near(near.field(), near.x(), near.y());
        }
        if (request.limit() != QueryRequest.NO_LIMIT) {
            query.limit(request.limit());
        }
        if (access.equals(QueryRequest.SCAN)) {
            query.usingScan();
        } else if (!access.isEmpty()) {
            query.usingIndex(access);
        }
        return query;
    }

    void check(MemorySource source, String access, Answer answer) {
        List<String> all = new ArrayList<>();
        for (Map<String, @Nullable Object> row : answer(source)) {
            all.add(show(row));
        }
        String what = "%s over %s by '%s'%n%s%n"
                .formatted(request, source.type(), access, answer.explanation());
        boolean anyOrder = request.near() == null
                && request.order().isEmpty()
                && !request.grouped()
                && !request.count();
        if (!anyOrder) {
            assertThat(answer.rows()).as(what).isEqualTo(all.subList(0, (int)
                    Math.min(all.size(), request.limit())));
        } else if (all.size() <= request.limit()) {
            assertThat(answer.rows()).as(what).containsExactlyInAnyOrderElementsOf(all);
        } else {
            assertThat(answer.rows()).as(what).hasSize((int) request.limit());
            List<String> rest = new ArrayList<>(all);
            answer.rows().forEach(row -> assertThat(rest.remove(row)).as(what).isTrue());
        }
        Explanation.Operator top = answer.explanation().operators().getFirst();
        if (request.order().isEmpty()
                && request.limit() == QueryRequest.NO_LIMIT
                && !top.name().equals("scan")) {
            assertThat(top.actualRows()).as(what).hasValue(answer.rows().size());
        }
    }

    /** All rows, ordered where the query says how. */
    private List<Map<String, @Nullable Object>> answer(MemorySource source) {
        RecordType type = source.type();
        List<Map<String, @Nullable Object>> matching = new ArrayList<>();
        for (Map<String, @Nullable Object> row : source.all()) {
            if (matchesAll(type, row)) {
                matching.add(row);
            }
        }
        if (request.cells() != null || !request.groupBy().isEmpty()) {
            return groups(type, matching);
        }
        if (request.count()) {
            Map<String, @Nullable Object> count = new LinkedHashMap<>();
            count.put("count", (long) matching.size());
            return List.of(count);
        }
        QueryRequest.Near near = request.near();
        if (near != null) {
            matching.removeIf(row -> row.get(near.field()) == null);
        }
        if (near != null || !request.order().isEmpty()) {
            matching.sort(recordOrder(source));
        }
        if (request.select().isEmpty()) {
            return matching;
        }
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Map<String, @Nullable Object> row : matching) {
            rows.add(selected(row));
        }
        return rows;
    }

    private Map<String, @Nullable Object> selected(Map<String, @Nullable Object> row) {
        Map<String, @Nullable Object> selected = new LinkedHashMap<>();
        for (String field : request.select()) {
            String whole = field.endsWith("[]") ? field.substring(0, field.length() - 2) : field;
            Map<?, ?> within = within(row, whole);
            String last = last(row, whole);
            if (within != null && within.containsKey(last)) {
                selected.put(whole, within.get(last));
            }
        }
        return selected;
    }

    /** The innermost map on a path; null if there is none. */
    private static @Nullable Map<?, ?> within(Map<?, ?> row, String path) {
        int dot = path.indexOf('.');
        if (dot < 0 || row.containsKey(path)) {
            return row;
        }
        return row.get(path.substring(0, dot)) instanceof Map<?, ?> inner
                ? within(inner, path.substring(dot + 1))
                : null;
    }

    private static String last(Map<?, ?> row, String path) {
        return row.containsKey(path) ? path : path.substring(path.lastIndexOf('.') + 1);
    }

    private static @Nullable Object value(Map<String, @Nullable Object> row, String path) {
        Map<?, ?> within = within(row, path);
        return within == null ? null : within.get(last(row, path));
    }

    private static List<?> elements(Map<String, @Nullable Object> row, String each) {
        return value(row, each.substring(0, each.length() - 2)) instanceof List<?> list
                ? list
                : List.of();
    }

    private Comparator<Map<String, @Nullable Object>> recordOrder(MemorySource source) {
        QueryRequest.Near near = request.near();
        Comparator<Map<String, @Nullable Object>> order = near == null
                ? (_, _) -> 0
                : Comparator.comparingDouble(row -> distance(
                        source.type().field(source.type().indexOf(near.field())).kind(),
                        Objects.requireNonNull(row.get(near.field())),
                        near.x(),
                        near.y()));
        for (OrderBy by : request.order()) {
            Comparator<@Nullable Object> values = order(source.type(), by.field());
            Comparator<@Nullable Object> directed = by.descending() ? values.reversed() : values;
            Comparator<Map<String, @Nullable Object>> next =
                    (a, b) -> directed.compare(value(a, by.field()), value(b, by.field()));
            order = order.thenComparing(next);
        }
        for (String key : source.primaryKey()) {
            Comparator<@Nullable Object> values = order(source.type(), key);
            order = order.thenComparing((a, b) -> values.compare(a.get(key), b.get(key)));
        }
        return order;
    }

    private static Comparator<@Nullable Object> order(RecordType type, String field) {
        return RandomValues.order(type.field(type.indexOf(field)).kind());
    }

    // ---- predicates
    // -------------------------------------------------------------------------------

    private boolean matchesAll(RecordType type, Map<String, @Nullable Object> row) {
        for (Predicate predicate : request.predicates()) {
            if (!matches(type, predicate, row)) {
                return false;
            }
        }
        return true;
    }

    private static boolean matches(
            RecordType type, Predicate predicate, Map<String, @Nullable Object> row) {
        String field = predicate.field();
        TypeKind kind = type.field(type.indexOf(field)).kind();
        if (field.endsWith("[]")) {
            return elements(row, field).stream()
                    .anyMatch(element -> matches(kind, predicate, element));
        }
        return matches(kind, predicate, value(row, field));
    }

    private static boolean matches(TypeKind kind, Predicate predicate, @Nullable Object value) {
        return switch (predicate) {
            case Predicate.Eq(var _, Object wanted) -> {
                if (wanted == null || value == null) {
                    yield wanted == null && value == null;
                }
                yield compare(kind, value, wanted) == 0;
            }
            case Predicate.Range(var _, Object low, Object high) ->
                value != null
                        && (low == null || compare(kind, value, bare(low)) >= strictness(low))
                        && (high == null || compare(kind, bare(high), value) >= strictness(high));
            case Predicate.Within(var _, Rectangle window) ->
                value != null
                        && (meets(value, window)
                                || (kind == TypeKind.LONLAT
                                        && meets(otherName((Point) value), window)));
            case Predicate.Across(var _, double minX, double minY, double maxX, double maxY) ->
                value instanceof Point point
                        && (point.x() >= minX || point.x() <= maxX)
                        && point.y() >= minY
                        && point.y() <= maxY;
            case Predicate.Distance(var _, double x, double y, double radius) ->
                value != null && distance(kind, value, x, y) <= radius;
            case Predicate.Contains(var _, String words) ->
                value != null && words((String) value).containsAll(words(words));
            case Predicate.Matches(var _, TextQuery query) ->
                value != null && PlainText.matches(query, (String) value);
        };
    }

    /** As values are ordered, but that -0.0 and 0.0 are one number. */
    private static int compare(TypeKind kind, Object a, Object b) {
        return Integer.signum(RandomValues.order(kind).compare(unsigned(a), unsigned(b)));
    }

    private static Object unsigned(Object value) {
        return switch (value) {
            case Double d when d == 0 -> 0.0;
            case Float f when f == 0 -> 0.0f;
            default -> value;
        };
    }

    private static boolean meets(Object value, Rectangle window) {
        Rectangle box = box(value);
        return !(box.maxX() < window.minX()
                || box.minX() > window.maxX()
                || box.maxY() < window.minY()
                || box.minY() > window.maxY());
    }

    /** The same place by the other name of the antimeridian. */
    private static Point otherName(Point point) {
        return Math.abs(point.x()) == 180 ? new Point(-point.x(), point.y()) : point;
    }

    private static double distance(TypeKind kind, Object value, double x, double y) {
        if (kind == TypeKind.LONLAT) {
            Point point = (Point) value;
            Box box = new Box().set(point.x(), point.y(), point.x(), point.y());
            return Metric.SPHERE.distance(x, y, box);
        }
        return distance(value, x, y);
    }

    /** Of coordinates so few and small that nothing is rounded before the root. */
    private static double distance(Object value, double x, double y) {
        Rectangle box = box(value);
        double dx = Math.max(0, Math.max(box.minX() - x, x - box.maxX()));
        double dy = Math.max(0, Math.max(box.minY() - y, y - box.maxY()));
        return Math.sqrt(dx * dx + dy * dy);
    }

    private static Rectangle box(Object value) {
        return value instanceof Point point
                ? new Rectangle(point.x(), point.y(), point.x(), point.y())
                : (Rectangle) value;
    }

    private static Set<String> words(String text) {
        return WORD.matcher(text)
                .results()
                .map(match -> match.group().toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
    }

    // ---- groups
    // -----------------------------------------------------------------------------------

    private List<Map<String, @Nullable Object>> groups(
            RecordType type, List<Map<String, @Nullable Object>> matching) {
        List<String> names = request.cells() != null ? List.of("cell") : request.groupBy();
        Comparator<List<@Nullable Object>> byKey = (_, _) -> 0;
        for (int i = 0; i < names.size(); i++) {
            int part = i;
            Comparator<@Nullable Object> values = partOrder(type, names.get(i));
            byKey = byKey.thenComparing((a, b) -> values.compare(a.get(part), b.get(part)));
        }
        TreeMap<List<@Nullable Object>, Long> counts = new TreeMap<>(byKey);
        for (Map<String, @Nullable Object> row : matching) {
            keys(type, row).forEach(key -> counts.merge(key, 1L, Long::sum));
        }
        List<Map<String, @Nullable Object>> groups = new ArrayList<>();
        for (Map.Entry<List<@Nullable Object>, Long> entry : counts.entrySet()) {
            Map<String, @Nullable Object> group = new LinkedHashMap<>();
            for (int i = 0; i < names.size(); i++) {
                group.put(names.get(i), plain(entry.getKey().get(i)));
            }
            group.put("count", entry.getValue());
            groups.add(group);
        }
        groups.sort(groupOrder(type));
        return groups;
    }

    /** One key; of a group by elements one for each distinct element. */
    private List<List<@Nullable Object>> keys(RecordType type, Map<String, @Nullable Object> row) {
        List<@Nullable Object> key = key(row);
        for (int i = 0; i < request.groupBy().size(); i++) {
            String field = request.groupBy().get(i);
            if (field.endsWith("[]")) {
                TreeSet<@Nullable Object> distinct = new TreeSet<>(order(type, field));
                distinct.addAll(elements(row, field));
                List<List<@Nullable Object>> all = new ArrayList<>();
                for (Object element : distinct) {
                    List<@Nullable Object> one = new ArrayList<>(key);
                    one.set(i, element);
                    all.add(one);
                }
                return all;
            }
        }
        return List.of(key);
    }

    private List<@Nullable Object> key(Map<String, @Nullable Object> row) {
        QueryRequest.Cells cells = request.cells();
        List<@Nullable Object> key = new ArrayList<>();
        if (cells != null) {
            key.add(row.get("place") instanceof Point point ? cell(point, cells) : null);
        } else {
            request.groupBy().forEach(field -> key.add(value(row, field)));
        }
        return key;
    }

    private Rectangle cell(Point point, QueryRequest.Cells cells) {
        double originX = Double.NEGATIVE_INFINITY;
        double originY = Double.NEGATIVE_INFINITY;
        for (Predicate predicate : request.predicates()) {
            if (predicate instanceof Predicate.Within(String field, Rectangle window)
                    && field.equals("place")) {
                originX = Math.max(originX, window.minX());
                originY = Math.max(originY, window.minY());
            }
        }
        originX = Double.isInfinite(originX) ? 0 : originX;
        originY = Double.isInfinite(originY) ? 0 : originY;
        double minX = originX + Math.floor((point.x() - originX) / cells.dx()) * cells.dx();
        double minY = originY + Math.floor((point.y() - originY) / cells.dy()) * cells.dy();
        return new Rectangle(minX, minY, minX + cells.dx(), minY + cells.dy());
    }

    private Comparator<Map<String, @Nullable Object>> groupOrder(RecordType type) {
        Comparator<Map<String, @Nullable Object>> order = (_, _) -> 0;
        for (OrderBy by : request.order()) {
            Comparator<@Nullable Object> values = partOrder(type, by.field());
            Comparator<@Nullable Object> directed = by.descending() ? values.reversed() : values;
            order = order.thenComparing(
                    (a, b) -> directed.compare(a.get(by.field()), b.get(by.field())));
        }
        return order;
    }

    private static Comparator<@Nullable Object> partOrder(RecordType type, String name) {
        return switch (name) {
            case "cell" -> RandomValues.order(TypeKind.RECTANGLE);
            case "count" -> RandomValues.order(TypeKind.INT64);
            default -> order(type, name);
        };
    }

    private static @Nullable Object plain(@Nullable Object value) {
        return value instanceof BigDecimal decimal ? decimal.stripTrailingZeros() : value;
    }

    // ---- printing -------------------------------------------------------------------------------

    /** Fields by name, so that the order of a map does not count; numbers as they are. */
    private static String show(Map<String, ? extends @Nullable Object> row) {
        TreeMap<String, String> shown = new TreeMap<>();
        row.forEach((name, value) -> shown.put(name, show(name, value)));
        return shown.toString();
    }

    private static String show(String name, @Nullable Object value) {
        return switch (value) {
            case byte[] bytes -> Arrays.toString(bytes);
            case List<?> list ->
                list.stream().map(element -> show("", element)).toList().toString();
            case Map<?, ?> map -> {
                TreeMap<String, String> shown = new TreeMap<>();
                map.forEach((key, inner) -> shown.put(String.valueOf(key), show("", inner)));
                yield shown.toString();
            }
            // a group key has no scale: numbers that are equal are one
            case BigDecimal decimal
            when name.startsWith("f") || name.startsWith("k") ->
                decimal.stripTrailingZeros().toPlainString();
            case null -> "null";
            default -> value.toString();
        };
    }
}
