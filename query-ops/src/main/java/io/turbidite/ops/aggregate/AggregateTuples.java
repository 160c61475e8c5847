package io.turbidite.ops.aggregate;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.expression.Computed;
import io.turbidite.ops.expression.TypedExpression;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;

/**
 * Tuples of two fields: a group key, and behind it what the aggregates need of the record. A record
 * that lies in several groups has the same behind each key. <em>Confined to one thread.</em>
 */
final class AggregateTuples implements TupleMaker {
    private final TupleMaker keys;
    private final int[] fields;

    /** Null where the argument is a field. */
    private final @Nullable Computed[] computed;

    private final TypeKind[] kinds;
    private final ArgumentFormat.Form[] forms;

    /** Of arguments that are keys. */
    private final @Nullable FieldKey[] fieldKeys;

    private final ByteSink sink = new ByteSink(256, Integer.MAX_VALUE - 8);
    private final Slice bytes = new Slice();
    private final Slice[] tuple = {new Slice(), new Slice()};

    /**
     * @param keys makes the group keys
     * @param arguments what lies behind them
     */
    AggregateTuples(TupleMaker keys, RecordType type, List<BoundAggregates.Argument> arguments) {
        this.keys = keys;
        this.fields =
                arguments.stream().mapToInt(BoundAggregates.Argument::field).toArray();
        this.kinds =
                arguments.stream().map(BoundAggregates.Argument::kind).toArray(TypeKind[]::new);
        this.computed = new Computed[fields.length];
        this.forms = new ArgumentFormat.Form[this.fields.length];
        this.fieldKeys = new FieldKey[this.fields.length];
        for (int i = 0; i < forms.length; i++) {
            forms[i] = ArgumentFormat.Form.of(kinds[i]);
            TypedExpression expression = arguments.get(i).expression();
            if (expression != null) {
                computed[i] = expression.computed();
            } else if (forms[i] == ArgumentFormat.Form.KEY) {
                fieldKeys[i] = new FieldKey(type, this.fields[i], false);
            }
        }
    }

    @Override
    public int fieldCount() {
        return 2;
    }

    @Override
    public boolean isMultiple() {
        return keys.isMultiple();
    }

    @Override
    public boolean readsRecord() {
        return fields.length > 0 || keys.readsRecord();
    }

    @Override
    public Slice[] make(RecordStream at, RecordView view) {
        Slice[] key = keys.make(at, view);
        if (key.length > 0) {
            tuple[0] = key[0];
        }
        // without arguments it is the same for all
        if (fields.length > 0 || tuple[1].length() == 0) {
            lay(view);
        }
        return tuple;
    }

    @Override
    public Slice @Nullable [] next() {
        Slice[] key = keys.next();
        if (key == null) {
            return null;
        }
        tuple[0] = key[0];
        return tuple;
    }

    private void lay(RecordView view) {
        sink.clear().reserve(ArgumentFormat.slotOffset(fields.length));
        long present = 0;
        for (int i = 0; i < fields.length; i++) {
            Computed value = computed[i];
            if (value != null) {
                if (value.compute(view)) {
                    present |= 1L << i;
                    long slot = slot(value, i);
                    sink.segment().set(Bytes.I64, ArgumentFormat.slotOffset(i), slot);
                }
            } else if (!view.isAbsent(fields[i])) {
                present |= 1L << i;
                long slot = slot(view, i);
                sink.segment().set(Bytes.I64, ArgumentFormat.slotOffset(i), slot);
            }
        }
        sink.segment().set(Bytes.I64, ArgumentFormat.PRESENT_OFFSET, present);
        sink.asSlice(tuple[1]);
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
