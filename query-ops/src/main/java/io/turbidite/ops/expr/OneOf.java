package io.turbidite.ops.expr;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordColumn;
import io.turbidite.core.record.RecordColumns;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * A field has one of many values: they are sorted, and a record's is searched among them, which
 * costs the logarithm of their number. Static.
 */
final class OneOf {
    /** Fewer are looked at one by one sooner. */
    private static final int COUNT_MIN = 4;

    private OneOf() {}

    /**
     * Whether all terms are equalities of one field with values of a kind of which equal ones are
     * the same, so that at most one of different terms holds of a record.
     */
    static boolean areDisjoint(RecordType type, List<Where.Test> terms) {
        String field = null;
        for (Where.Test term : terms) {
            if (!(term instanceof Where.Is(Predicate predicate, boolean negated))
                    || negated
                    || !(predicate instanceof Predicate.Eq(String name, Object value))
                    || value == null
                    || (field != null && !field.equals(name))) {
                return false;
            }
            field = name;
        }
        int index = field == null ? -1 : type.indexOf(field);
        return index >= 0 && !type.isEach(index) && isExact(type.field(index).kind());
    }

    private static boolean isExact(TypeKind kind) {
        return KindValues.isLong(kind) || kind == TypeKind.STRING || kind == TypeKind.UUID;
    }

    /** The test of a record; null where the terms are no such, or so few that it does not pay. */
    static @Nullable RecordPredicate of(RecordType type, List<Where.Test> terms) {
        if (terms.size() < COUNT_MIN || !areDisjoint(type, terms)) {
            return null;
        }
        List<Predicate.Eq> equalities = terms.stream()
                .map(term -> (Predicate.Eq) ((Where.Is) term).predicate())
                .toList();
        int field = type.indexOf(equalities.getFirst().field());
        TypeKind kind = type.field(field).kind();
        return KindValues.isLong(kind)
                ? new Longs(
                        field,
                        equalities.stream()
                                .mapToLong(one -> KindValues.toLong(
                                        kind, Objects.requireNonNull(one.value())))
                                .sorted()
                                .toArray())
                : new Strings(
                        field,
                        equalities.stream()
                                .map(one -> RangePredicates.bytesOf(one.value()))
                                .sorted(Slice::compareBytes)
                                .toArray(Slice[]::new));
    }

    /**
     * What tests that must all hold become: those that say that one field is none of many values
     * become one. The others keep their order: before it, or behind it if they call functions,
     * which may refuse a value that this one leaves out.
     *
     * @param terms those that call functions last
     */
    static List<RecordPredicate> all(
            RecordType type, List<Where.Test> terms, Function<Where.Test, RecordPredicate> each) {
        Map<String, List<Where.Test>> unequal = new LinkedHashMap<>();
        for (Where.Test term : terms) {
            if (term instanceof Where.Is(Predicate.Eq(String name, var _), boolean negated)
                    && negated) {
                unequal.computeIfAbsent(name, _ -> new ArrayList<>()).add(opposite(term));
            }
        }
        Map<String, RecordPredicate> none = new LinkedHashMap<>();
        unequal.forEach((name, values) -> {
            RecordPredicate oneOf = of(type, values);
            if (oneOf != null) {
                none.put(name, new TestPredicates.Not(type.indexOf(name), oneOf));
            }
        });
        List<RecordPredicate> all = new ArrayList<>();
        int beforeCalls = 0;
        for (Where.Test term : terms) {
            boolean isTested = term instanceof Where.Is(Predicate predicate, boolean negated)
                    && negated
                    && predicate instanceof Predicate.Eq
                    && none.containsKey(predicate.field());
            if (!isTested) {
                all.add(each.apply(term));
                beforeCalls += Where.callsFunctions(term) ? 0 : 1;
            }
        }
        all.addAll(beforeCalls, none.values());
        return all;
    }

    private static Where.Is opposite(Where.Test term) {
        return new Where.Is(((Where.Is) term).predicate(), false);
    }

    private static final class Longs implements RecordPredicate {
        private final int field;
        private final long[] values;

        Longs(int field, long[] values) {
            this.field = field;
            this.values = values;
        }

        @Override
        public boolean matches(RecordView record) {
            return !record.isAbsent(field)
                    && Arrays.binarySearch(values, record.getLong(field)) >= 0;
        }

        @Override
        public int narrow(RecordColumns records, int[] rows, int count) {
            RecordColumn column = records.longs(field, rows, count, records.own());
            long[] numbers = column.numbers();
            boolean[] absent = column.absent();
            int left = 0;
            for (int i = 0; i < count; i++) {
                rows[left] = rows[i];
                left += !absent[i] && Arrays.binarySearch(values, numbers[i]) >= 0 ? 1 : 0;
            }
            return left;
        }
    }

    private static final class Strings implements RecordPredicate {
        private final int field;
        private final Slice[] values;
        private final Slice bytes = new Slice();

        Strings(int field, Slice[] values) {
            this.field = field;
            this.values = values;
        }

        @Override
        public boolean matches(RecordView record) {
            return !record.isAbsent(field)
                    && Arrays.binarySearch(
                                    values, record.getBytes(field, bytes), Slice::compareBytes)
                            >= 0;
        }
    }
}
