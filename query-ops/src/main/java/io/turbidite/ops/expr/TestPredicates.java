package io.turbidite.ops.expr;

import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.record.RecordColumns;
import io.turbidite.core.record.RecordView;

import org.jspecify.annotations.Nullable;

/** Conditions over records that are more than one predicate on one field. */
final class TestPredicates {
    private TestPredicates() {}

    /** True of no record. */
    record None() implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            return false;
        }

        @Override
        public int narrow(RecordColumns records, int[] rows, int count) {
            return 0;
        }
    }

    /** The field has a value, and the predicate does not hold. */
    record Not(int field, RecordPredicate predicate) implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            return !record.isAbsent(field) && !predicate.matches(record);
        }
    }

    /** The predicate holds for some element of an array. */
    record AnyElement(int each, RecordPredicate predicate) implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            for (boolean is = record.firstElement(each); is; is = record.nextElement(each)) {
                if (predicate.matches(record)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** There are elements, and the predicate holds for none. */
    record NoElement(int each, RecordPredicate predicate) implements RecordPredicate {
        @Override
        public boolean matches(RecordView record) {
            boolean some = record.firstElement(each);
            for (boolean is = some; is; is = record.nextElement(each)) {
                if (predicate.matches(record)) {
                    return false;
                }
            }
            return some;
        }
    }

    /** All hold. */
    static final class All implements RecordPredicate {
        private final RecordPredicate[] terms;

        All(RecordPredicate[] terms) {
            this.terms = terms;
        }

        @Override
        public boolean matches(RecordView record) {
            for (RecordPredicate term : terms) {
                if (!term.matches(record)) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public int narrow(RecordColumns records, int[] rows, int count) {
            int left = count;
            for (RecordPredicate term : terms) {
                left = term.narrow(records, rows, left);
            }
            return left;
        }
    }

    /** One holds. */
    static final class Any implements RecordPredicate {
        private final RecordPredicate[] terms;

        Any(RecordPredicate[] terms) {
            this.terms = terms;
        }

        @Override
        public boolean matches(RecordView record) {
            for (RecordPredicate term : terms) {
                if (term.matches(record)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Evaluated over decoded values: an object for each that is read. */
    static final class Evaluated implements RecordPredicate, BoundExpression.Row {
        private final BoundExpression expression;
        private @Nullable RecordView record;

        Evaluated(BoundExpression expression) {
            this.expression = expression;
        }

        @Override
        public boolean matches(RecordView view) {
            record = view;
            return Boolean.TRUE.equals(expression.evaluate(this));
        }

        @Override
        public @Nullable Object value(int index) {
            return record == null ? null : record.get(index);
        }

        @Override
        public @Nullable Object open(String name) {
            return record == null ? null : record.get(name);
        }
    }
}
