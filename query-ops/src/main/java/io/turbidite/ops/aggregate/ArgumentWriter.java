package io.turbidite.ops.aggregate;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.expression.Computed;
import io.turbidite.ops.expression.TypedExpression;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;

/**
 * Lays down what aggregates need of a record, or of several that are one row together ({@link
 * ArgumentFormat}). <em>Confined to one thread.</em>
 */
final class ArgumentWriter {
    private final int[] fields;

    /** Null where the argument is a field. */
    private final @Nullable Computed[] computed;

    private final TypeKind[] kinds;
    private final ArgumentFormat.Form[] forms;

    /** Of arguments that are keys. */
    private final @Nullable FieldKey[] fieldKeys;

    private final ByteSink sink = new ByteSink(256, Integer.MAX_VALUE - 8);
    private final Slice bytes = new Slice();
    private final Slice laid = new Slice();
    private long present;

    /**
     * @param arguments in the order of their slots
     * @param typeOf of the record that has an argument
     */
    ArgumentWriter(List<BoundAggregates.Argument> arguments, IntFunction<RecordType> typeOf) {
        this.fields =
                arguments.stream().mapToInt(BoundAggregates.Argument::field).toArray();
        this.kinds =
                arguments.stream().map(BoundAggregates.Argument::kind).toArray(TypeKind[]::new);
        this.computed = new Computed[fields.length];
        this.forms = new ArgumentFormat.Form[fields.length];
        this.fieldKeys = new FieldKey[fields.length];
        for (int i = 0; i < forms.length; i++) {
            forms[i] = ArgumentFormat.Form.of(kinds[i]);
            TypedExpression expression = arguments.get(i).expression();
            if (expression != null) {
                computed[i] = expression.computed();
            } else if (forms[i] == ArgumentFormat.Form.KEY) {
                fieldKeys[i] = new FieldKey(typeOf.apply(i), fields[i], false);
            }
        }
    }

    int count() {
        return fields.length;
    }

    /** Begins what is needed of a row. */
    void begin() {
        sink.clear().reserve(ArgumentFormat.slotOffset(fields.length));
        present = 0;
    }

    /** Puts an argument, each once: what a record has of it. */
    void put(int argument, RecordView view) {
        Computed value = computed[argument];
        if (value != null) {
            if (value.compute(view)) {
                set(argument, slot(value, argument));
            }
        } else if (!view.isAbsent(fields[argument])) {
            set(argument, slot(view, argument));
        }
    }

    private void set(int argument, long slot) {
        present |= 1L << argument;
        sink.segment().set(Bytes.I64, ArgumentFormat.slotOffset(argument), slot);
    }

    /** All that was put; valid until the next begin. */
    Slice end() {
        sink.segment().set(Bytes.I64, ArgumentFormat.PRESENT_OFFSET, present);
        return sink.asSlice(laid);
    }

    private long slot(RecordView view, int argument) {
        int field = fields[argument];
        return switch (forms[argument]) {
            case NUMBER -> view.getLong(field);
            // the sum of -0.0 and 0.0 is 0.0: one value, as keys have it
            case DOUBLE -> Double.doubleToLongBits(view.getDouble(field) + 0.0);
            case TEXT -> {
                int start = sink.length();
                sink.putBytes(view.getBytes(field, bytes));
                yield ArgumentFormat.placeOf(start, sink.length() - start);
            }
            case KEY -> {
                int start = sink.length();
                Objects.requireNonNull(fieldKeys[argument]).append(view, sink);
                yield ArgumentFormat.placeOf(start, sink.length() - start);
            }
            case PRESENCE -> 0;
        };
    }

    private long slot(Computed value, int argument) {
        return switch (forms[argument]) {
            case NUMBER -> value.number();
            case DOUBLE -> Double.doubleToLongBits(value.fraction() + 0.0);
            case TEXT -> {
                int start = sink.length();
                sink.putBytes(value.bytes());
                yield ArgumentFormat.placeOf(start, sink.length() - start);
            }
            case KEY -> {
                int start = sink.length();
                KeyCodec.append(sink, kinds[argument], value.object());
                yield ArgumentFormat.placeOf(start, sink.length() - start);
            }
            case PRESENCE -> throw new IllegalStateException("no value of its own");
        };
    }
}
