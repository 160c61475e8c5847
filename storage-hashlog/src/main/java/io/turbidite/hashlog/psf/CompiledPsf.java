package io.turbidite.hashlog.psf;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.hashlog.parse.FieldValues;

import java.util.Objects;
import java.util.function.ToIntFunction;

/**
 * A PSF with its fields numbered: adds the value of a parsed record. <em>Confined to one
 * thread.</em>
 */
sealed interface CompiledPsf {
    void evaluate(FieldValues values, Properties into);

    /** The compiled form of PSF {@code id}, whose fields {@code fieldOf} numbers. */
    static CompiledPsf of(
            int id,
            PsfDefinition definition,
            PsfFunctions functions,
            CanonicalValues canonical,
            ToIntFunction<FieldPath> fieldOf) {
        return switch (definition) {
            case PsfDefinition.Field(FieldPath path) ->
                new OfField(id, fieldOf.applyAsInt(path), canonical);
            case PsfDefinition.Where(Expression expression) ->
                new OfPredicate(id, PredicatePlan.of(expression, fieldOf));
            case PsfDefinition.Bucket(FieldPath path, int width) ->
                new OfBucket(id, fieldOf.applyAsInt(path), width, canonical);
            case PsfDefinition.Ranges ranges ->
                new OfRanges(
                        id,
                        fieldOf.applyAsInt(ranges.path()),
                        ranges.bounds().stream().map(Decimal::of).toArray(Decimal[]::new),
                        canonical);
            case PsfDefinition.Prefix(FieldPath path, int charCount) ->
                new OfPrefix(id, fieldOf.applyAsInt(path), charCount, canonical);
            case PsfDefinition.Function function ->
                new OfFunction(
                        id,
                        function.name(),
                        functions.named(function.name()),
                        function.paths().stream().mapToInt(fieldOf).toArray(),
                        canonical);
        };
    }

    /** {@link PsfDefinition.Field}. */
    record OfField(int id, int field, CanonicalValues canonical) implements CompiledPsf {
        @Override
        public void evaluate(FieldValues values, Properties into) {
            canonical.add(id, values, field, into);
        }
    }

    /** {@link PsfDefinition.Where}. */
    record OfPredicate(int id, PredicatePlan plan) implements CompiledPsf {
        @Override
        public void evaluate(FieldValues values, Properties into) {
            if (plan.isTrue(values)) {
                into.addInline(id, 1);
            }
        }
    }

    /** {@link PsfDefinition.Bucket}. */
    record OfBucket(int id, int field, int width, CanonicalValues canonical)
            implements CompiledPsf {
        @Override
        public void evaluate(FieldValues values, Properties into) {
            if (values.kind(field).isNumber()) {
                Decimal number = canonical.readDecimal(values, field);
                // rounding down twice is rounding down once, as the width is an integer
                if (number.hasLongFloor()) {
                    into.addInline(id, Math.floorDiv(number.floor(), (long) width));
                }
            }
        }
    }

    /** {@link PsfDefinition.Ranges}. */
    final class OfRanges implements CompiledPsf {
        private final int id;
        private final int field;
        private final Decimal[] bounds;
        private final CanonicalValues canonical;

        OfRanges(int id, int field, Decimal[] bounds, CanonicalValues canonical) {
            this.id = id;
            this.field = field;
            this.bounds = bounds;
            this.canonical = canonical;
        }

        @Override
        public void evaluate(FieldValues values, Properties into) {
            if (values.kind(field).isNumber()) {
                int range = CanonicalValues.rangeOf(canonical.readDecimal(values, field), bounds);
                if (range >= 0) {
                    into.addInline(id, range);
                }
            }
        }
    }

    /** {@link PsfDefinition.Prefix}. */
    record OfPrefix(int id, int field, int charCount, CanonicalValues canonical)
            implements CompiledPsf {
        @Override
        public void evaluate(FieldValues values, Properties into) {
            if (values.kind(field).isText()) {
                int byteCount = CanonicalValues.prefixBytes(
                        values.bytes(field),
                        values.offset(field),
                        values.byteCount(field),
                        charCount);
                canonical.addText(id, values, field, byteCount, into);
            }
        }
    }

    /** From a failed function to the plan, which refuses the record. */
    final class FunctionFailedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient FunctionFailure failure;

        FunctionFailedException(FunctionFailure failure) {
            super(failure.toString(), failure.cause(), false, false);
            this.failure = failure;
        }

        FunctionFailure failure() {
            return failure;
        }
    }

    /**
     * {@link PsfDefinition.Function}. What a function does wrong refuses the record and stops
     * nothing else.
     */
    final class OfFunction implements CompiledPsf, PsfFunction.Result {
        private static final int NOTHING = 0;
        private static final int INTEGER = 1;
        private static final int BYTES = 2;
        private static final int FIELD = 3;

        private final int id;
        private final String name;
        private final PsfFunction function;
        private final int[] fields;
        private final CanonicalValues canonical;

        private int given;
        private long integer;
        private byte[] bytes = new byte[0];
        private int length;

        OfFunction(
                int id,
                String name,
                PsfFunction function,
                int[] fields,
                CanonicalValues canonical) {
            this.id = id;
            this.name = name;
            this.function = function;
            this.fields = fields;
            this.canonical = canonical;
        }

        @Override
        public void evaluate(FieldValues values, Properties into) {
            given = NOTHING;
            try {
                function.evaluate(values, fields, this);
                take(values, into);
            } catch (OutOfMemoryError e) {
                throw e; // says nothing of this record
            } catch (RuntimeException | Error e) {
                throw new FunctionFailedException(new FunctionFailure(id, name, e));
            }
        }

        private void take(FieldValues values, Properties into) {
            switch (given) {
                case INTEGER -> into.addInline(id, integer);
                case BYTES -> into.addRegion(id, bytes, (int) integer, length);
                case FIELD -> canonical.add(id, values, (int) integer, into);
                default -> {}
            }
        }

        @Override
        public void integer(long value) {
            given = INTEGER;
            integer = value;
        }

        @Override
        public void text(byte[] utf8, int offset, int byteCount) {
            Objects.checkFromIndexSize(offset, byteCount, utf8.length);
            given = BYTES;
            bytes = utf8;
            integer = offset;
            length = byteCount;
        }

        @Override
        public void field(int field) {
            given = FIELD;
            integer = field;
        }
    }
}
