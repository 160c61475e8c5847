package io.turbidite.ops.expr;

import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.WordCursor;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Compiles predicates and conditions on records of a type, for one thread. */
record Compilation(RecordType type) {
    RecordPredicate compile(Where.Test test) {
        return switch (test) {
            case Where.Is(Predicate predicate, boolean negated) ->
                negated ? compileNegated(predicate) : compile(predicate);
            case Where.Never _ -> new TestPredicates.None();
            case Where.Evaluated(BoundExpression expression) ->
                new TestPredicates.Evaluated(expression);
            case Where.AllOf(List<Where.Test> terms) -> new TestPredicates.All(all(terms));
            case Where.AnyOf(List<Where.Test> terms) -> {
                RecordPredicate oneOf = OneOf.of(type, terms);
                yield oneOf != null ? oneOf : new TestPredicates.Any(compiled(terms));
            }
        };
    }

    /**
     * Those that call functions come last: a function may refuse a value, and whether it gets to
     * see a record must not depend on what an index left out before.
     */
    RecordPredicate[] compiled(List<Where.Test> terms) {
        return terms.stream()
                .sorted(Comparator.comparing(Where::callsFunctions))
                .map(this::compile)
                .toArray(RecordPredicate[]::new);
    }

    /** As {@link #compiled} of terms that must all hold: there may be fewer than terms. */
    RecordPredicate[] all(List<Where.Test> terms) {
        List<Where.Test> sorted = new ArrayList<>(terms);
        sorted.sort(Comparator.comparing(Where::callsFunctions));
        return OneOf.all(type, sorted, this::compile).toArray(RecordPredicate[]::new);
    }

    private RecordPredicate compileNegated(Predicate predicate) {
        int field = type.indexOf(predicate.field());
        return type.isEach(field)
                ? new TestPredicates.NoElement(field, compileOne(predicate, field))
                : new TestPredicates.Not(field, compileOne(predicate, field));
    }

    RecordPredicate compile(Predicate predicate) {
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
                yield new WindowPredicate(field, kind, Places.parts(predicate, kind));
            }
            case Predicate.Distance distance ->
                new DistancePredicate(
                        field,
                        type.field(field).kind(),
                        Places.circle(distance, type.field(field).kind()));
            case Predicate.Contains(var _, String words) ->
                new WordPredicate(field, WordCursor.wordsOf(words));
            case Predicate.Matches(var _, TextQuery query) -> new TextPredicate(field, query);
        };
    }
}
