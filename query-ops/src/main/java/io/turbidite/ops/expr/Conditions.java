package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.TokenReader;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.LonLat;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.text.WordCursor;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The predicates and conditions of a query, checked against a record type: their values read and of
 * the right class, and what they mean for each field. <em>Immutable.</em>
 */
public final class Conditions {
    private static final RecordPredicate[] NONE = {};

    private final RecordType type;
    private final List<Predicate> predicates;

    /** One for each field that has some, in the order of the first. */
    private List<FieldRange> ranges = List.of();

    /** What is no predicate on one field. */
    private List<Where.Test> tests = List.of();

    /** The texts of {@link #tests}. */
    private List<String> testTexts = List.of();

    private boolean never;

    private Conditions(RecordType type, List<Predicate> predicates) {
        this.type = type;
        this.predicates = predicates;
    }

    /**
     * Checks predicates.
     *
     * @param predicates not changed any more
     * @throws InvalidRequestException if a field is not declared or a value does not fit it
     */
    public static Conditions of(RecordType type, List<Predicate> predicates) {
        boolean hasText = hasText(predicates);
        List<Predicate> read = hasText ? new ArrayList<>(predicates) : predicates;
        Conditions conditions = new Conditions(type, read);
        for (int i = 0; i < predicates.size(); i++) {
            Predicate predicate = predicates.get(i);
            int field = requireField(type, predicate);
            TypeKind kind = type.field(field).kind();
            checkScalar(predicate, kind);
            Predicate typed = switch (predicate) {
                case Predicate.Eq eq -> read(eq, kind);
                case Predicate.Range range -> read(range, kind);
                case Predicate.Within _,
                        Predicate.Across _,
                        Predicate.Distance _,
                        Predicate.Contains _,
                        Predicate.Matches _ -> {
                    checkKind(predicate, kind);
                    yield predicate;
                }
            };
            if (hasText) {
                read.set(i, typed);
            }
            if (isRange(typed)) {
                conditions.and(rangeOf(predicate, typed, field, kind));
            }
        }
        return conditions;
    }

    /**
     * Checks predicates and conditions.
     *
     * @param parameters the values that the parameters of conditions stand for
     * @throws InvalidRequestException if a field is not declared or a value does not fit it
     */
    public static Conditions of(
            RecordType type,
            List<Predicate> predicates,
            List<Expression> where,
            Map<String, ? extends @Nullable Object> parameters) {
        if (where.isEmpty()) {
            return of(type, predicates);
        }
        Where binding = new Where(type, parameters);
        List<Predicate> all = new ArrayList<>(predicates);
        List<Where.Test> tests = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        for (Expression condition : where) {
            List<Expression> terms = condition instanceof Expression.And(List<Expression> inner)
                    ? inner
                    : List.of(condition);
            for (Expression term : terms) {
                Where.Test test = binding.bind(term);
                if (test instanceof Where.Is(Predicate predicate, boolean negated) && !negated) {
                    all.add(predicate);
                } else {
                    tests.add(test);
                    texts.add(
                            term instanceof Expression.Or ? "(" + term.text() + ")" : term.text());
                }
            }
        }
        Conditions conditions = of(type, all);
        conditions.tests = tests;
        conditions.testTexts = texts;
        for (Where.Test test : tests) {
            conditions.never |= test instanceof Where.Never;
            if (test instanceof Where.AnyOf any) {
                conditions.andHull(any);
            }
        }
        return conditions;
    }

    /** Checks the fields of conditions, of which the parameters have no values yet. */
    public static void checkWhere(RecordType type, List<Expression> where) {
        Where binding = new Where(type, Map.of());
        where.forEach(binding::checkFields);
    }

    /** Adds the parameters of conditions that are not yet there, in their order. */
    public static void collectParameters(List<Expression> where, List<String> names) {
        where.forEach(condition -> Where.collectParameters(condition, names));
    }

    /**
     * Where each of some conditions bounds the same field, the field lies in the range around them
     * all: an index narrows by it, and the conditions are still tested.
     */
    private void andHull(Where.AnyOf any) {
        List<Predicate> first = new ArrayList<>();
        collect(any.tests().getFirst(), first);
        for (Predicate predicate : first) {
            FieldRange hull = hull(any.tests(), predicate.field());
            if (hull != null) {
                and(hull);
            }
        }
    }

    private static void collect(Where.Test test, List<Predicate> into) {
        switch (test) {
            case Where.Is(Predicate predicate, boolean negated) -> {
                if (!negated && into.stream().noneMatch(p -> p.field().equals(predicate.field()))) {
                    into.add(predicate);
                }
            }
            case Where.AllOf(List<Where.Test> terms) -> terms.forEach(t -> collect(t, into));
            case Where.AnyOf(List<Where.Test> terms) -> collect(terms.getFirst(), into);
            case Where.Never _, Where.Evaluated _ -> {}
        }
    }

    /** The range around what some conditions leave of a field; null if one leaves anything. */
    private @Nullable FieldRange hull(List<Where.Test> anyOf, String field) {
        FieldRange hull = null;
        for (Where.Test test : anyOf) {
            FieldRange range = rangeIn(test, field);
            if (range == null) {
                return null;
            }
            hull = hull == null ? range : hull.hull(range);
        }
        return hull;
    }

    private @Nullable FieldRange rangeIn(Where.Test test, String field) {
        return switch (test) {
            case Where.Is(Predicate predicate, boolean negated) -> {
                boolean bounds = !negated
                        && isRange(predicate)
                        && predicate.field().equals(field)
                        && !(predicate instanceof Predicate.Eq(var _, Object value)
                                && value == null);
                int index = type.indexOf(field);
                yield bounds
                        ? rangeOf(predicate, predicate, index, type.field(index).kind())
                        : null;
            }
            case Where.AllOf(List<Where.Test> terms) -> {
                FieldRange range = null;
                for (Where.Test term : terms) {
                    range = range == null ? rangeIn(term, field) : range;
                }
                yield range;
            }
            case Where.AnyOf(List<Where.Test> terms) -> hull(terms, field);
            case Where.Never _, Where.Evaluated _ -> null;
        };
    }

    private static boolean hasText(List<Predicate> predicates) {
        for (int i = 0; i < predicates.size(); i++) {
            boolean isText = switch (predicates.get(i)) {
                case Predicate.Eq eq -> eq.value() instanceof Predicate.Text;
                case Predicate.Range range -> isText(range.low()) || isText(range.high());
                case Predicate.Within _,
                        Predicate.Across _,
                        Predicate.Distance _,
                        Predicate.Contains _,
                        Predicate.Matches _ -> false;
            };
            if (isText) {
                return true;
            }
        }
        return false;
    }

    private static boolean isText(@Nullable Object bound) {
        return Predicate.Excluded.valueOf(bound) instanceof Predicate.Text;
    }

    /**
     * Checks what can be told of predicates before their parameters have values.
     *
     * @throws InvalidRequestException if a field is not declared, or does not take such a predicate
     */
    public static void checkFields(RecordType type, List<Predicate> predicates) {
        for (Predicate predicate : predicates) {
            int field = requireField(type, predicate);
            checkKind(predicate, type.field(field).kind());
        }
    }

    /** An array or a nested record as a whole is there or not, and compares with nothing. */
    private static void checkScalar(Predicate predicate, TypeKind kind) {
        boolean takesIt = kind.isScalar()
                || (predicate instanceof Predicate.Eq eq && eq.value() == null)
                || (predicate instanceof Predicate.Range range
                        && range.low() == null
                        && range.high() == null);
        if (!takesIt) {
            throw FieldRange.wrong(predicate, wholeField(predicate.field(), kind));
        }
    }

    /** What to say of a field that has many values. */
    static String wholeField(String field, TypeKind kind) {
        return kind == TypeKind.ARRAY
                ? "'%s' is an array; any of its elements is '%s%s'"
                        .formatted(field, field, RecordType.EACH)
                : "'%s' is a nested record; name a field in it, like '%s.…'"
                        .formatted(field, field);
    }

    private static int requireField(RecordType type, Predicate predicate) {
        int field = type.indexOf(predicate.field());
        if (field < 0 && predicate instanceof Predicate.Matches(String name, var _)) {
            requireTokenizer(type, name);
        }
        return field >= 0
                ? field
                : requireDeclared(type, predicate.field(), "predicate " + predicate);
    }

    /** What follows a declared field and a colon was meant for a tokenizer. */
    private static void requireTokenizer(RecordType type, String name) {
        int colon = name.lastIndexOf(':');
        if (colon > 0 && type.indexOf(name.substring(0, colon)) >= 0) {
            var _ = Tokenizer.ofLabel(name.substring(colon + 1), name);
        }
    }

    /**
     * The index of a declared field.
     *
     * @param use what names it
     * @throws InvalidRequestException saying what there is instead
     */
    public static int requireDeclared(RecordType type, String name, String use) {
        int field = type.indexOf(name);
        if (field < 0) {
            String misspelt = misspelt(type, name);
            throw new InvalidRequestException(
                    "%s names field '%s', which is not declared%s. Only declared fields can be asked for, others are shown with whole records. Declared (dataset.type of the feed definition) are %s%s"
                            .formatted(
                                    use,
                                    name,
                                    misspelt,
                                    type.names(),
                                    misspelt.isEmpty() ? type.meant(name) : ""));
        }
        return field;
    }

    /** What to say of a name that differs by capitals from what it may be meant for. */
    private static String misspelt(RecordType type, String name) {
        for (Field field : type.fields()) {
            if (field.name().equalsIgnoreCase(name)) {
                return "; '%s' is".formatted(field.name());
            }
        }
        return TokenReader.inSmallLetters(name);
    }

    private static Predicate.Eq read(Predicate.Eq eq, TypeKind kind) {
        checkBound(eq, eq.value());
        return eq.value() instanceof Predicate.Text
                ? new Predicate.Eq(eq.field(), value(eq, kind, eq.value()))
                : eq;
    }

    private static Predicate.Range read(Predicate.Range range, TypeKind kind) {
        checkBound(range, range.low());
        checkBound(range, range.high());
        return isText(range.low()) || isText(range.high())
                ? new Predicate.Range(
                        range.field(),
                        value(range, kind, range.low()),
                        value(range, kind, range.high()))
                : range;
    }

    private static void checkBound(Predicate predicate, @Nullable Object bound) {
        Predicate.Parameter parameter = Predicate.Excluded.parameterOf(bound);
        if (parameter != null) {
            throw new InvalidRequestException(
                    "predicate %s: parameter '%s' has no value: prepare the query and run it with one"
                            .formatted(predicate, parameter.name()));
        }
    }

    private static @Nullable Object value(
            Predicate predicate, TypeKind kind, @Nullable Object bound) {
        try {
            return Predicate.Excluded.valueOf(bound) instanceof Predicate.Text(String text)
                    ? Predicate.Excluded.replaced(bound, ValueParser.parse(kind, text))
                    : bound;
        } catch (InvalidRequestException e) {
            throw wrongValue(predicate, e);
        }
    }

    private static InvalidRequestException wrongValue(
            Predicate predicate, InvalidRequestException e) {
        return new InvalidRequestException(
                "predicate %s: %s".formatted(predicate, e.getMessage()), e);
    }

    static void checkKind(Predicate predicate, TypeKind kind) {
        switch (predicate) {
            case Predicate.Within _, Predicate.Across _, Predicate.Distance _ -> {
                if (!kind.isSpatial()) {
                    throw FieldRange.wrong(
                            predicate,
                            "type %s is neither point nor rectangle".formatted(kind.label()));
                }
                checkPlace(predicate, kind);
            }
            case Predicate.Contains contains -> {
                if (kind != TypeKind.STRING) {
                    throw FieldRange.wrong(
                            predicate, "type %s is not string".formatted(kind.label()));
                }
                if (wordsOf(contains).isEmpty()) {
                    throw FieldRange.wrong(predicate, "there is no word to look for");
                }
            }
            case Predicate.Matches(var _, TextQuery query) -> {
                if (kind != TypeKind.STRING) {
                    throw FieldRange.wrong(
                            predicate, "type %s is not string".formatted(kind.label()));
                }
                try {
                    query.check();
                } catch (InvalidRequestException e) {
                    throw wrongValue(predicate, e);
                }
            }
            case Predicate.Eq _, Predicate.Range _ -> {}
        }
    }

    /**
     * @param asked as the caller wrote {@code typed}
     */
    private static FieldRange rangeOf(Predicate asked, Predicate typed, int field, TypeKind kind) {
        try {
            return switch (typed) {
                case Predicate.Eq eq -> FieldRange.of(field, kind, eq);
                case Predicate.Range range -> FieldRange.of(field, kind, range);
                case Predicate.Within _,
                        Predicate.Across _,
                        Predicate.Distance _,
                        Predicate.Contains _,
                        Predicate.Matches _ -> throw new IllegalArgumentException(typed.toString());
            };
        } catch (InvalidRequestException e) {
            throw wrongValue(asked, e);
        }
    }

    private void and(FieldRange range) {
        // two ranges of elements may be met by two of them: each stays a range of its own
        boolean isEach = type.isEach(range.field());
        for (int i = 0; i < ranges.size() && !isEach; i++) {
            FieldRange before = ranges.get(i);
            if (before.field() == range.field()) {
                FieldRange both = before.and(range);
                if (ranges.size() == 1) {
                    ranges = List.of(both);
                } else {
                    ranges.set(i, both);
                }
                return;
            }
        }
        if (ranges.isEmpty()) {
            ranges = List.of(range);
        } else {
            List<FieldRange> all = new ArrayList<>(ranges.size() + 1);
            all.addAll(ranges);
            all.add(range);
            ranges = all;
        }
    }

    /** The type that they were checked against. */
    public RecordType type() {
        return type;
    }

    public List<Predicate> predicates() {
        return Collections.unmodifiableList(predicates);
    }

    /** What equalities and ranges leave of a field; null if there are none on it. */
    public @Nullable FieldRange range(int field) {
        for (int i = 0; i < ranges.size(); i++) {
            if (ranges.get(i).field() == field) {
                return ranges.get(i);
            }
        }
        return null;
    }

    /**
     * What each equality and range leaves of the elements of an array: each is met by some element,
     * not all by the same one.
     */
    public List<FieldRange> rangesOf(int each) {
        return ranges.stream().filter(range -> range.field() == each).toList();
    }

    /**
     * What equalities and ranges leave of each field that has some; of the elements of an array
     * there may be several.
     */
    public List<FieldRange> ranges() {
        return Collections.unmodifiableList(ranges);
    }

    /** How many conditions there are beside the predicates. */
    public int testCount() {
        return tests.size();
    }

    /** Whether no record can match. */
    public boolean contradictory() {
        if (never) {
            return true;
        }
        for (int i = 0; i < ranges.size(); i++) {
            if (ranges.get(i).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** Whether there are only equalities and ranges, which encoded values can answer. */
    public boolean onlyRanges() {
        if (!tests.isEmpty()) {
            return false;
        }
        for (Predicate predicate : predicates) {
            if (!isRange(predicate)) {
                return false;
            }
        }
        return true;
    }

    private static List<String> wordsOf(Predicate.Contains contains) {
        try {
            return WordCursor.wordsOf(contains.words());
        } catch (InvalidRequestException e) {
            throw wrongValue(contains, e);
        }
    }

    private static boolean isRange(Predicate predicate) {
        return predicate instanceof Predicate.Eq || predicate instanceof Predicate.Range;
    }

    /**
     * The words that all texts of a field must have, in lower case; empty if none are asked for.
     */
    public List<String> words(String field) {
        Set<String> words = new LinkedHashSet<>();
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Contains(String name, String wanted)
                    && name.equals(field)) {
                words.addAll(WordCursor.wordsOf(wanted));
            }
        }
        return List.copyOf(words);
    }

    /** What else is asked of the texts of a field. */
    public List<TextQuery> textQueries(String field) {
        List<TextQuery> queries = new ArrayList<>();
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Matches(String name, TextQuery query)
                    && name.equals(field)) {
                queries.add(query);
            }
        }
        return queries;
    }

    /**
     * What all windows on a field have in common; null without windows, or where that is nothing.
     */
    public @Nullable Rectangle window(String field) {
        Rectangle common = null;
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Within(String name, Rectangle window)
                    && name.equals(field)) {
                double minX =
                        common == null ? window.minX() : Math.max(common.minX(), window.minX());
                double minY =
                        common == null ? window.minY() : Math.max(common.minY(), window.minY());
                double maxX =
                        common == null ? window.maxX() : Math.min(common.maxX(), window.maxX());
                double maxY =
                        common == null ? window.maxY() : Math.min(common.maxY(), window.maxY());
                if (minX > maxX || minY > maxY) {
                    return null;
                }
                common = new Rectangle(minX, minY, maxX, maxY);
            }
        }
        return common;
    }

    private static void checkPlace(Predicate predicate, TypeKind kind) {
        try {
            if (predicate instanceof Predicate.Distance distance) {
                var _ = circle(distance, kind);
            } else {
                var _ = parts(predicate, kind);
            }
        } catch (InvalidRequestException e) {
            throw FieldRange.wrong(predicate, String.valueOf(e.getMessage()));
        }
    }

    /** What a window is: two where it crosses the antimeridian, with no place in common. */
    private static List<Rectangle> parts(Predicate predicate, TypeKind kind) {
        return switch (predicate) {
            case Predicate.Within(var _, Rectangle window) ->
                kind == TypeKind.LONLAT
                        ? LonLat.windows(window.minX(), window.minY(), window.maxX(), window.maxY())
                        : List.of(window);
            case Predicate.Across(var _, double minX, double minY, double maxX, double maxY) ->
                kind == TypeKind.LONLAT
                        ? LonLat.windows(minX, minY, maxX, maxY)
                        // throws: on the plane it is none
                        : List.of(new Rectangle(minX, minY, maxX, maxY));
            default -> throw new IllegalArgumentException(predicate.toString());
        };
    }

    /** Of each window on a field of the sphere its parts, which have no place in common. */
    public List<List<Rectangle>> sphericWindows(String field) {
        List<List<Rectangle>> windows = new ArrayList<>(0);
        for (Predicate predicate : predicates) {
            if (predicate.field().equals(field) && isWindow(predicate)) {
                windows.add(parts(predicate, TypeKind.LONLAT));
            }
        }
        return windows;
    }

    private static boolean isWindow(Predicate predicate) {
        return predicate instanceof Predicate.Within || predicate instanceof Predicate.Across;
    }

    /** The lower left of the windows on a field; null without windows. */
    public @Nullable Point corner(String field) {
        Rectangle common = window(field);
        if (common != null) {
            return new Point(common.minX(), common.minY());
        }
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Across across && across.field().equals(field)) {
                return new Point(across.minX(), across.minY());
            }
        }
        return null;
    }

    /** One of the windows on a field; null if there is none. */
    public @Nullable Rectangle anyWindow(String field) {
        List<Rectangle> windows = windows(field);
        return windows.isEmpty() ? null : windows.getFirst();
    }

    /** All windows on a field. */
    public List<Rectangle> windows(String field) {
        List<Rectangle> windows = new ArrayList<>();
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Within(String name, Rectangle window)
                    && name.equals(field)) {
                windows.add(window);
            }
        }
        return windows;
    }

    /** The circles on a field. */
    public List<Circle> circles(String field) {
        List<Circle> circles = new ArrayList<>(0);
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Distance distance
                    && distance.field().equals(field)) {
                circles.add(circle(distance));
            }
        }
        return circles;
    }

    private Circle circle(Predicate.Distance distance) {
        return circle(distance, type.field(type.indexOf(distance.field())).kind());
    }

    private static Circle circle(Predicate.Distance distance, TypeKind kind) {
        return new Circle(Metric.of(kind), distance.x(), distance.y(), distance.radius());
    }

    /**
     * Whether there are windows on some field that have nothing in common: no point is in them. Of
     * an array each may have a point of its own.
     */
    public boolean hasDisjointWindows() {
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Within(String field, var _)
                    && !field.endsWith(RecordType.EACH)
                    && type.field(type.indexOf(field)).kind() == TypeKind.POINT
                    && window(field) == null) {
                return true;
            }
        }
        return false;
    }

    /** Whether there are only windows on this field. */
    public boolean onlyWindows(String field) {
        if (!tests.isEmpty()) {
            return false;
        }
        for (Predicate predicate : predicates) {
            if (!(predicate instanceof Predicate.Within) || !predicate.field().equals(field)) {
                return false;
            }
        }
        return true;
    }

    /** All predicates compiled, for one thread. */
    public RecordPredicate[] compile() {
        return compile(List.of());
    }

    /**
     * Predicates compiled, for one thread.
     *
     * @param decided fields whose equalities and ranges need no look any more
     */
    public RecordPredicate[] compile(List<String> decided) {
        if (isDecidedBy(decided)) {
            return NONE;
        }
        List<RecordPredicate> compiled = new ArrayList<>(predicates.size() + tests.size());
        for (Predicate predicate : predicates) {
            if (!isRange(predicate) || !decided.contains(predicate.field())) {
                compiled.add(compile(predicate));
            }
        }
        Collections.addAll(compiled, compiled(tests));
        return compiled.toArray(RecordPredicate[]::new);
    }

    /** Whether every predicate is an equality or a range of one of these fields. */
    public boolean isDecidedBy(List<String> fields) {
        if (!tests.isEmpty()) {
            return false;
        }
        for (int i = 0; i < predicates.size(); i++) {
            Predicate predicate = predicates.get(i);
            if (!isRange(predicate) || !fields.contains(predicate.field())) {
                return false;
            }
        }
        return true;
    }

    private RecordPredicate compile(Where.Test test) {
        return switch (test) {
            case Where.Is(Predicate predicate, boolean negated) ->
                negated ? compileNegated(predicate) : compile(predicate);
            case Where.Never _ -> new TestPredicates.None();
            case Where.Evaluated(BoundExpression expression) ->
                new TestPredicates.Evaluated(expression);
            case Where.AllOf(List<Where.Test> terms) -> new TestPredicates.All(compiled(terms));
            case Where.AnyOf(List<Where.Test> terms) -> new TestPredicates.Any(compiled(terms));
        };
    }

    /**
     * Those that call functions come last: a function may refuse a value, and whether it gets to
     * see a record must not depend on what an index left out before.
     */
    private RecordPredicate[] compiled(List<Where.Test> terms) {
        return terms.stream()
                .sorted(Comparator.comparing(Where::callsFunctions))
                .map(this::compile)
                .toArray(RecordPredicate[]::new);
    }

    private RecordPredicate compileNegated(Predicate predicate) {
        int field = type.indexOf(predicate.field());
        return type.isEach(field)
                ? new TestPredicates.NoElement(field, compileOne(predicate, field))
                : new TestPredicates.Not(field, compileOne(predicate, field));
    }

    private RecordPredicate compile(Predicate predicate) {
        int field = type.indexOf(predicate.field());
        return type.isEach(field)
                ? new TestPredicates.AnyElement(field, compileOne(predicate, field))
                : compileOne(predicate, field);
    }

    /** For one value: of an array the current element. */
    private RecordPredicate compileOne(Predicate predicate, int field) {
        return switch (predicate) {
            case Predicate.Eq(var _, Object value) ->
                value == null
                        ? new RangePredicates.Absent(field)
                        : RangePredicates.between(type, field, value, value);
            case Predicate.Range(var _, Object low, Object high) ->
                low == null && high == null
                        ? new RangePredicates.Present(field)
                        : RangePredicates.between(type, field, low, high);
            case Predicate.Within _, Predicate.Across _ -> {
                TypeKind kind = type.field(field).kind();
                yield new WindowPredicate(field, kind, parts(predicate, kind));
            }
            case Predicate.Distance distance ->
                new DistancePredicate(field, type.field(field).kind(), circle(distance));
            case Predicate.Contains(var _, String words) ->
                new WordPredicate(field, WordCursor.wordsOf(words));
            case Predicate.Matches(var _, TextQuery query) -> new TextPredicate(field, query);
        };
    }

    /** For people: the predicates joined by {@code and}. */
    @Override
    public String toString() {
        List<String> all = new ArrayList<>();
        predicates.forEach(predicate -> all.add(predicate.toString()));
        all.addAll(testTexts);
        return String.join(" and ", all);
    }
}
