package io.turbidite.ops.expr;

import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The terms of a condition with {@code or}, each with what it leaves of the fields together with
 * all other conditions: so each may be read by a way of its own. A record belongs to the first term
 * that holds of it, and so to one of them alone. <em>Immutable.</em>
 */
public final class Alternatives {
    /** Estimates are made for each term: beyond this many they cost more than they save. */
    private static final int TERM_COUNT_MAX = 1_000;

    private final RecordType type;

    /** In the order in which they are tested. */
    private final List<Where.Test> terms;

    private final List<Conditions> conditions;

    /** Whether no record has two of them. */
    private final boolean areDisjoint;

    private Alternatives(RecordType type, List<Where.Test> terms, List<Conditions> conditions) {
        this.type = type;
        this.terms = terms;
        this.conditions = conditions;
        this.areDisjoint = OneOf.areDisjoint(type, terms);
    }

    /**
     * The terms of a condition; null if one of them bounds no field, none can hold, or there are
     * too many.
     *
     * @param all what is asked beside it
     */
    static @Nullable Alternatives of(Conditions all, Where.AnyOf any) {
        // the same term twice would be read twice
        Set<Where.Test> different = new LinkedHashSet<>();
        flatten(any, different);
        if (different.isEmpty() || different.size() > TERM_COUNT_MAX) {
            return null;
        }
        List<Where.Test> terms = new ArrayList<>(different);
        // as they are tested (Compilation): a function sees no record of which another term holds
        terms.sort(Comparator.comparing(Where::callsFunctions));
        List<Conditions> conditions = new ArrayList<>(terms.size());
        for (Where.Test term : terms) {
            List<Predicate> bounds = new ArrayList<>();
            collect(term, bounds);
            if (bounds.isEmpty()) {
                return null;
            }
            conditions.add(all.and(bounds));
        }
        return new Alternatives(all.type(), terms, conditions);
    }

    /** Terms that can hold, of this condition and of those in it. */
    private static void flatten(Where.AnyOf any, Set<Where.Test> to) {
        for (Where.Test test : any.tests()) {
            switch (test) {
                case Where.AnyOf inner -> flatten(inner, to);
                case Where.Never _ -> {}
                case Where.Is _, Where.Evaluated _, Where.AllOf _ -> to.add(test);
            }
        }
    }

    /** Predicates that hold wherever the test does. */
    private static void collect(Where.Test test, List<Predicate> into) {
        switch (test) {
            case Where.Is(Predicate predicate, boolean negated) -> {
                if (!negated) {
                    into.add(predicate);
                }
            }
            case Where.AllOf(List<Where.Test> terms) -> terms.forEach(t -> collect(t, into));
            case Where.AnyOf _, Where.Never _, Where.Evaluated _ -> {}
        }
    }

    /** How many there are. */
    public int count() {
        return terms.size();
    }

    /** All conditions, and what a term leaves beside them. */
    public Conditions conditions(int term) {
        return conditions.get(term);
    }

    /** Whether a term calls a function, which may refuse a value. */
    public boolean callsFunctions() {
        return Where.callsFunctions(terms.getLast());
    }

    /** For each term whether a record belongs to it; for one thread, which asks one at a time. */
    public List<RecordPredicate> belonging() {
        Compilation compilation = new Compilation(type);
        RecordPredicate[] tests =
                terms.stream().map(compilation::compile).toArray(RecordPredicate[]::new);
        if (areDisjoint) {
            return List.of(tests);
        }
        List<RecordPredicate> belonging = new ArrayList<>(tests.length);
        for (int i = 0; i < tests.length; i++) {
            belonging.add(new FirstThatHolds(tests, i));
        }
        return belonging;
    }

    /** One holds, and none before it. */
    private static final class FirstThatHolds implements RecordPredicate {
        private final RecordPredicate[] tests;
        private final int wanted;

        FirstThatHolds(RecordPredicate[] tests, int wanted) {
            this.tests = tests;
            this.wanted = wanted;
        }

        @Override
        public boolean matches(RecordView record) {
            int first = 0;
            while (first <= wanted && !tests[first].matches(record)) {
                first++;
            }
            return first == wanted;
        }
    }
}
