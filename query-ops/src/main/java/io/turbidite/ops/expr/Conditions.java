package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.TokenReader;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.WordCursor;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The predicates and conditions of a query, checked against a record type: their values read and of
 * the right class, and what they mean for each field. <em>Immutable.</em>
 */
public final class Conditions {
    private static final RecordPredicate[] NONE = {};

    /** As many conditions as a text may have are shown in full. */
    private static final int SHOWN_ALL_MAX = 256;

    /** So many are shown of more. */
    private static final int SHOWN_MAX = 8;

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
        boolean hasText = PredicateCheck.hasText(predicates);
        List<Predicate> read = hasText ? new ArrayList<>(predicates) : predicates;
        Conditions conditions = new Conditions(type, read);
        for (int i = 0; i < predicates.size(); i++) {
            Predicate predicate = predicates.get(i);
            int field = PredicateCheck.requireField(type, predicate);
            TypeKind kind = type.field(field).kind();
            PredicateCheck.checkScalar(predicate, kind);
            Predicate typed = switch (predicate) {
                case Predicate.Eq eq -> PredicateCheck.read(eq, kind);
                case Predicate.Range range -> PredicateCheck.read(range, kind);
                case Predicate.Within _,
                        Predicate.Across _,
                        Predicate.Distance _,
                        Predicate.Contains _,
                        Predicate.Matches _ -> {
                    PredicateCheck.checkKind(predicate, kind);
                    yield predicate;
                }
            };
            if (hasText) {
                read.set(i, typed);
            }
            if (PredicateCheck.isRange(typed)) {
                conditions.and(PredicateCheck.rangeOf(predicate, typed, field, kind));
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
                            term instanceof Expression.Or ? "(" + shown(term) + ")" : shown(term));
                }
            }
        }
        Conditions conditions = of(type, all);
        conditions.tests = tests;
        conditions.testTexts = texts;
        for (Where.Test test : tests) {
            conditions.never |= test instanceof Where.Never;
            if (test instanceof Where.AnyOf any) {
                new Hulls(type).of(any).forEach(conditions::and);
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
     * Checks what can be told of predicates before their parameters have values.
     *
     * @throws InvalidRequestException if a field is not declared, or does not take such a predicate
     */
    public static void checkFields(RecordType type, List<Predicate> predicates) {
        for (Predicate predicate : predicates) {
            int field = PredicateCheck.requireField(type, predicate);
            PredicateCheck.checkKind(predicate, type.field(field).kind());
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

    /** What an index or a filter may help with. */
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

    /** The conditions with {@code or} of which each term bounds some field. */
    public List<Alternatives> alternatives() {
        if (tests.isEmpty()) {
            return List.of();
        }
        List<Alternatives> all = new ArrayList<>(1);
        for (Where.Test test : tests) {
            Alternatives terms =
                    test instanceof Where.AnyOf any ? Alternatives.of(this, any) : null;
            if (terms != null) {
                all.add(terms);
            }
        }
        return all;
    }

    /** These and more predicates, of values of the right class. */
    Conditions and(List<Predicate> more) {
        List<Predicate> both = new ArrayList<>(predicates);
        both.addAll(more);
        Conditions narrowed = of(type, both);
        // what conditions with "or" leave of a field is in the ranges of these alone
        for (FieldRange range : ranges) {
            if (!type.isEach(range.field())) {
                narrowed.and(range);
            }
        }
        narrowed.tests = tests;
        narrowed.testTexts = testTexts;
        narrowed.never = never;
        return narrowed;
    }

    /**
     * These, and that a field has one of some values.
     *
     * @param values of the class that the field's kind has
     */
    public Conditions andOneOf(String field, Collection<?> values) {
        List<Where.Test> terms = new ArrayList<>(values.size());
        for (Object value : values) {
            terms.add(new Where.Is(new Predicate.Eq(field, value), false));
        }
        Where.AnyOf any = new Where.AnyOf(terms);
        Conditions narrowed = and(List.of());
        narrowed.tests = new ArrayList<>(tests);
        narrowed.tests.add(any);
        narrowed.testTexts = new ArrayList<>(testTexts);
        narrowed.testTexts.add(String.format(
                Locale.ROOT, "%s is one of %,d of the other side", field, values.size()));
        new Hulls(type).of(any).forEach(narrowed::and);
        return narrowed;
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
            if (!PredicateCheck.isRange(predicate)) {
                return false;
            }
        }
        return true;
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

    /** Where points and rectangles must be. */
    public Places places() {
        return new Places(type, predicates);
    }

    /** Whether there are only windows on this field. */
    public boolean onlyWindows(String field) {
        return tests.isEmpty() && places().areOnlyOn(field);
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
        Compilation compilation = new Compilation(type);
        List<RecordPredicate> compiled = new ArrayList<>(predicates.size() + tests.size());
        for (Predicate predicate : predicates) {
            if (!PredicateCheck.isRange(predicate) || !decided.contains(predicate.field())) {
                compiled.add(compilation.compile(predicate));
            }
        }
        Collections.addAll(compiled, compilation.all(tests));
        return compiled.toArray(RecordPredicate[]::new);
    }

    /** Whether every predicate is an equality or a range of one of these fields. */
    public boolean isDecidedBy(List<String> fields) {
        if (!tests.isEmpty()) {
            return false;
        }
        for (int i = 0; i < predicates.size(); i++) {
            Predicate predicate = predicates.get(i);
            if (!PredicateCheck.isRange(predicate) || !fields.contains(predicate.field())) {
                return false;
            }
        }
        return true;
    }

    /** For people: the predicates joined by {@code and}. */
    @Override
    public String toString() {
        List<String> all = new ArrayList<>();
        predicates.forEach(predicate -> all.add(predicate.toString()));
        all.addAll(testTexts);
        return joined(all, all.size(), " and ");
    }

    /** For people: the text of a condition, of a long list its beginning. */
    public static String shown(Expression condition) {
        return switch (condition) {
            case Expression.Or(List<Expression> terms)
            when terms.size() > SHOWN_ALL_MAX -> begun(terms, " || ");
            case Expression.And(List<Expression> terms)
            when terms.size() > SHOWN_ALL_MAX -> begun(terms, " && ");
            default -> condition.text();
        };
    }

    /** Makes no text of the terms that are not shown. */
    private static String begun(List<Expression> terms, String by) {
        List<String> first =
                terms.stream().limit(SHOWN_MAX).map(Expression::text).toList();
        return joined(first, terms.size(), by);
    }

    private static String joined(List<String> terms, int count, String by) {
        return count <= SHOWN_ALL_MAX
                ? String.join(by, terms)
                : String.format(
                        Locale.ROOT,
                        "%s%s%,d more",
                        String.join(by, terms.subList(0, SHOWN_MAX)),
                        by,
                        count - SHOWN_MAX);
    }
}
