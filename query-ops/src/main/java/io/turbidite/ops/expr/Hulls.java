package io.turbidite.ops.expr;

import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Where each of some conditions bounds the same field, the field lies in the range around them all:
 * an index narrows by it, and the conditions are still tested.
 */
record Hulls(RecordType type) {
    /** The ranges around what some conditions leave of fields that all of them bound. */
    List<FieldRange> of(Where.AnyOf any) {
        List<Predicate> first = new ArrayList<>();
        collect(any.tests().getFirst(), first);
        List<FieldRange> hulls = new ArrayList<>();
        for (Predicate predicate : first) {
            FieldRange hull = hull(any.tests(), predicate.field());
            if (hull != null) {
                hulls.add(hull);
            }
        }
        return hulls;
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
                        && PredicateCheck.isRange(predicate)
                        && predicate.field().equals(field)
                        && !(predicate instanceof Predicate.Eq(var _, Object value)
                                && value == null);
                int index = type.indexOf(field);
                yield bounds
                        ? PredicateCheck.rangeOf(
                                predicate, predicate, index, type.field(index).kind())
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
}
