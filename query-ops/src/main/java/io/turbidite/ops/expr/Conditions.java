package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The predicates of a query, checked against a record type: their values read and of the right class,
 * and what they mean for each field. <em>Immutable.</em>
 */
public final class Conditions {
    private final RecordType type;
    private final List<Predicate> predicates;
    private final Map<Integer, FieldRange> ranges = new LinkedHashMap<>();

    private Conditions(RecordType type, List<Predicate> predicates) {
        this.type = type;
        this.predicates = List.copyOf(predicates);
    }

    /**
     * Checks predicates.
     *
     * @throws InvalidRequestException if a field is not declared or a value does not fit it
     */
    public static Conditions of(RecordType type, List<Predicate> predicates) {
        List<Predicate> read = new ArrayList<>();
        for (Predicate predicate : predicates) {
            int field = type.require(predicate.field(), "predicate " + predicate);
            read.add(read(predicate, type.field(field).kind()));
        }
        Conditions conditions = new Conditions(type, read);
        for (Predicate predicate : read) {
            int field = type.indexOf(predicate.field());
            FieldRange range = rangeOf(predicate, field, type.field(field).kind());
            if (range != null) {
                conditions.ranges.merge(field, range, FieldRange::and);
            }
        }
        return conditions;
    }

    private static Predicate read(Predicate predicate, TypeKind kind) {
        return switch (predicate) {
            case Predicate.Eq eq ->
                new Predicate.Eq(eq.field(), value(predicate, kind, eq.value()));
            case Predicate.Range range ->
                new Predicate.Range(
                        range.field(),
                        value(predicate, kind, range.low()),
                        value(predicate, kind, range.high()));
            case Predicate.Within _ -> {
                if (kind != TypeKind.POINT && kind != TypeKind.RECTANGLE) {
                    throw FieldRange.wrong(
                            predicate,
                            "type %s is neither point nor rectangle".formatted(kind.label()));
                }
                yield predicate;
            }
            case Predicate.Contains contains -> {
                if (kind != TypeKind.STRING) {
                    throw FieldRange.wrong(
                            predicate, "type %s is not string".formatted(kind.label()));
                }
                if (Words.of(contains.words()).isEmpty()) {
                    throw FieldRange.wrong(predicate, "there is no word to look for");
                }
                yield predicate;
            }
        };
    }

    private static @Nullable Object value(
            Predicate predicate, TypeKind kind, @Nullable Object value) {
        try {
            Object read = value instanceof Predicate.Text(String text)
                    ? ValueParser.parse(kind, text)
                    : value;
            if (read != null) {
                FieldRange.encode(kind, read);
            }
            return read;
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "predicate %s: %s".formatted(predicate, e.getMessage()), e);
        }
    }

    private static @Nullable FieldRange rangeOf(Predicate predicate, int field, TypeKind kind) {
        return switch (predicate) {
            case Predicate.Eq eq -> FieldRange.of(field, kind, eq);
            case Predicate.Range range -> FieldRange.of(field, kind, range);
            case Predicate.Within _, Predicate.Contains _ -> null;
        };
    }

    public List<Predicate> predicates() {
        return predicates;
    }

    /** What equalities and ranges leave of a field; null if there are none on it. */
    public @Nullable FieldRange range(int field) {
        return ranges.get(field);
    }

    /** What equalities and ranges leave of each field that has some. */
    public List<FieldRange> ranges() {
        return List.copyOf(ranges.values());
    }

    /** Whether no record can match. */
    public boolean contradictory() {
        return ranges.values().stream().anyMatch(FieldRange::isEmpty);
    }

    /** Whether there are only equalities and ranges, which encoded values can answer. */
    public boolean onlyRanges() {
        return predicates.stream()
                .allMatch(p -> p instanceof Predicate.Eq || p instanceof Predicate.Range);
    }

    /** What all windows on a field have in common; null without windows, or where that is nothing. */
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

    /** All predicates compiled, for one thread. */
    public RecordPredicate[] compile() {
        return predicates.stream().map(this::compile).toArray(RecordPredicate[]::new);
    }

    private RecordPredicate compile(Predicate predicate) {
        int field = type.indexOf(predicate.field());
        return switch (predicate) {
            case Predicate.Eq(var _, Object value) ->
                value == null
                        ? new RangePredicates.Absent(field)
                        : RangePredicates.between(type, field, value, value);
            case Predicate.Range(var _, Object low, Object high) ->
                low == null && high == null
                        ? new RangePredicates.Present(field)
                        : RangePredicates.between(type, field, low, high);
            case Predicate.Within(var _, Rectangle window) ->
                new WindowPredicate(field, type.field(field).kind(), window);
            case Predicate.Contains(var _, String words) -> new Words(field, Words.of(words));
        };
    }

    /** For people: the predicates joined by {@code and}. */
    @Override
    public String toString() {
        return String.join(" and ", predicates.stream().map(Object::toString).toList());
    }
}
