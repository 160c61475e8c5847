package io.turbidite.ops.aggregate;

import io.turbidite.core.record.RecordColumn;
import io.turbidite.core.record.RecordColumns;
import io.turbidite.core.record.RecordView;
import io.turbidite.ops.aggregate.ArgumentFormat.Form;
import io.turbidite.ops.expression.Computed;
import io.turbidite.ops.expression.TypedExpression;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.IntPredicate;

/**
 * What aggregates need of many records, argument by argument: numbers, bits of doubles, and of
 * other values only whether they are there. <em>Confined to one thread.</em> Valid until the next
 * records.
 */
public final class ArgumentColumns {
    private final int[] fields;
    private final Form[] forms;

    /** Of arguments that are fields. */
    private final @Nullable RecordColumn[] columns;

    /** Null where the argument is a field. */
    private final @Nullable Computed[] computed;

    private final boolean computes;
    private final long[][] numbers;
    private final boolean[][] absent;

    ArgumentColumns(List<BoundAggregates.Argument> arguments) {
        this(arguments, _ -> true);
    }

    /**
     * @param isRead whether an argument is read of records; others are given by {@link #gather},
     *     and are fields
     */
    ArgumentColumns(List<BoundAggregates.Argument> arguments, IntPredicate isRead) {
        int count = arguments.size();
        fields = new int[count];
        forms = new Form[count];
        columns = new RecordColumn[count];
        computed = new Computed[count];
        numbers = new long[count][];
        absent = new boolean[count][];
        boolean some = false;
        for (int i = 0; i < count; i++) {
            BoundAggregates.Argument argument = arguments.get(i);
            TypedExpression expression = argument.expression();
            fields[i] = argument.field();
            forms[i] = Form.of(argument.kind());
            if (expression == null) {
                columns[i] = isRead.test(i) ? new RecordColumn() : null;
            } else {
                computed[i] = expression.computed();
                some = true;
            }
            numbers[i] = new long[0];
            absent[i] = new boolean[0];
        }
        computes = some;
    }

    /**
     * Reads what is needed of some records.
     *
     * @param rows which; as many as {@code count}
     * @throws io.turbidite.core.InvalidRequestException if an expression has no value for one of
     *     them
     */
    public void read(RecordColumns records, int[] rows, int count) {
        for (int i = 0; i < fields.length; i++) {
            RecordColumn column = columns[i];
            if (column != null) {
                readField(i, records, rows, count, column);
            }
        }
        if (computes) {
            compute(records, rows, count);
        }
    }

    /** How many arguments there are. */
    public int count() {
        return fields.length;
    }

    /** Whether {@link #read} reads an argument. */
    public boolean isRead(int argument) {
        return columns[argument] != null || computed[argument] != null;
    }

    /**
     * Gives an argument that is not read.
     *
     * @param from its values, and {@code absentOf} which of them are none
     * @param places which of these each row has; as many as {@code rows}
     */
    public void gather(int argument, long[] from, boolean[] absentOf, int[] places, int rows) {
        if (numbers[argument].length < rows) {
            numbers[argument] = new long[Math.max(rows, 2 * numbers[argument].length)];
            absent[argument] = new boolean[numbers[argument].length];
        }
        long[] to = numbers[argument];
        boolean[] absentTo = absent[argument];
        for (int i = 0; i < rows; i++) {
            to[i] = from[places[i]];
            absentTo[i] = absentOf[places[i]];
        }
    }

    private void readField(
            int argument, RecordColumns records, int[] rows, int count, RecordColumn column) {
        int field = fields[argument];
        switch (forms[argument]) {
            case NUMBER -> records.longs(field, rows, count, column);
            case DOUBLE -> {
                records.doubles(field, rows, count, column);
                long[] bits = column.numbers();
                for (int i = 0; i < count; i++) {
                    bits[i] = bitsOf(Double.longBitsToDouble(bits[i]));
                }
            }
            case TEXT, KEY, PRESENCE -> records.presence(field, rows, count, column);
        }
        numbers[argument] = column.numbers();
        absent[argument] = column.absent();
    }

    /** The sum of -0.0 and 0.0 is 0.0: one value, as keys have it. */
    private static long bitsOf(double value) {
        return Double.doubleToLongBits(value + 0.0);
    }

    /** Record by record: of several expressions that fail the first record's is told. */
    private void compute(RecordColumns records, int[] rows, int count) {
        for (int i = 0; i < fields.length; i++) {
            if (computed[i] != null && numbers[i].length < count) {
                numbers[i] = new long[Math.max(count, 2 * numbers[i].length)];
                absent[i] = new boolean[numbers[i].length];
            }
        }
        for (int row = 0; row < count; row++) {
            RecordView view = records.view(rows[row]);
            for (int i = 0; i < fields.length; i++) {
                Computed value = computed[i];
                if (value != null) {
                    boolean is = value.compute(view);
                    absent[i][row] = !is;
                    numbers[i][row] = is ? slot(value, forms[i]) : 0;
                }
            }
        }
    }

    private static long slot(Computed value, Form form) {
        return switch (form) {
            case NUMBER -> value.number();
            case DOUBLE -> bitsOf(value.fraction());
            case TEXT, KEY, PRESENCE -> 0;
        };
    }

    /** The values of an argument, in an array that may be longer than they are many. */
    public long[] numbers(int argument) {
        return numbers[argument];
    }

    /** Which rows have no value of an argument; otherwise as {@link #numbers}. */
    public boolean[] absent(int argument) {
        return absent[argument];
    }
}
