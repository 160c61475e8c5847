package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.text.WordCursor;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Checks predicates against the type of records: their fields, the kinds of these, and values that
 * are still text. Static.
 */
final class PredicateCheck {
    private PredicateCheck() {}

    static boolean hasText(List<Predicate> predicates) {
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

    /** An array or a nested record as a whole is there or not, and compares with nothing. */
    static void checkScalar(Predicate predicate, TypeKind kind) {
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

    static int requireField(RecordType type, Predicate predicate) {
        int field = type.indexOf(predicate.field());
        if (field < 0 && predicate instanceof Predicate.Matches(String name, var _)) {
            requireTokenizer(type, name);
        }
        return field >= 0
                ? field
                : Conditions.requireDeclared(type, predicate.field(), "predicate " + predicate);
    }

    /** What follows a declared field and a colon was meant for a tokenizer. */
    private static void requireTokenizer(RecordType type, String name) {
        int colon = name.lastIndexOf(':');
        if (colon > 0 && type.indexOf(name.substring(0, colon)) >= 0) {
            var _ = Tokenizer.ofLabel(name.substring(colon + 1), name);
        }
    }

    static Predicate.Eq read(Predicate.Eq eq, TypeKind kind) {
        checkBound(eq, eq.value());
        return eq.value() instanceof Predicate.Text
                ? new Predicate.Eq(eq.field(), value(eq, kind, eq.value()))
                : eq;
    }

    static Predicate.Range read(Predicate.Range range, TypeKind kind) {
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
                Places.check(predicate, kind);
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
    static FieldRange rangeOf(Predicate asked, Predicate typed, int field, TypeKind kind) {
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

    private static List<String> wordsOf(Predicate.Contains contains) {
        try {
            return WordCursor.wordsOf(contains.words());
        } catch (InvalidRequestException e) {
            throw wrongValue(contains, e);
        }
    }

    static boolean isRange(Predicate predicate) {
        return predicate instanceof Predicate.Eq || predicate instanceof Predicate.Range;
    }
}
