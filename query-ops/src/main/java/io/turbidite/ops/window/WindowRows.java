package io.turbidite.ops.window;

import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.window.WindowFunction.Unit;

import java.util.ArrayList;
import java.util.List;

/**
 * Puts the operators together that a list of functions needs: first those of whole partitions, then
 * those of equal rows, then those that move with each row. Functions of what comes up to the last
 * row see the rows the other way round, behind all others. Static.
 */
public final class WindowRows {
    private WindowRows() {}

    /**
     * The type of the rows: the fields that are read, then those of the functions.
     *
     * @throws io.turbidite.core.InvalidRequestException if a function takes no such field, or a
     *     name is taken
     */
    public static RecordType type(
            RecordType of, WindowOrder order, List<WindowFunction> functions) {
        order.partition().forEach(field -> WindowFunction.index(of, field));
        order.order().forEach(field -> WindowFunction.index(of, field));
        List<Field> fields = new ArrayList<>(of.declared());
        functions.forEach(function -> fields.add(function.field(of)));
        return RecordType.of(fields);
    }

    /**
     * The rows, in the order in which they come.
     *
     * @param input comes by partition, and within it in the window's order; owned by the rows
     * @param of the type of the input
     */
    public static Rows of(
            Rows input,
            RecordType of,
            WindowOrder order,
            List<WindowFunction> functions,
            RunOptions options,
            OperatorMeter meter) {
        RecordType type = type(of, order, functions);
        List<WindowFunction> forward =
                functions.stream().filter(one -> !one.isBackward()).toList();
        List<WindowFunction> backward = functions.stream()
                .filter(WindowFunction::isBackward)
                .map(WindowFunction::mirrored)
                .toList();
        long passes = units(forward) + (backward.isEmpty() ? 0 : units(backward) + 2);
        RunOptions share = options.withMemoryBytesMax(Math.max(
                RunOptions.MEMORY_BYTES_MIN, options.memoryBytesMax() / Math.max(1, passes)));
        Rows rows = passed(input, of, type, order, forward, share, meter);
        if (!backward.isEmpty()) {
            RecordType read = forward.isEmpty() ? of : type;
            rows = new ReversedRows(rows, read, order, share, meter);
            rows = passed(rows, read, type, order, backward, share, meter);
            rows = new ReversedRows(rows, type, order, share, meter);
        }
        return rows;
    }

    private static long units(List<WindowFunction> functions) {
        return functions.stream().map(WindowFunction::unit).distinct().count();
    }

    /** @param of the type of the input: some or all fields of the type that is made */
    private static Rows passed(
            Rows input,
            RecordType of,
            RecordType type,
            WindowOrder order,
            List<WindowFunction> functions,
            RunOptions share,
            OperatorMeter meter) {
        Rows rows = input;
        RecordType read = of;
        for (Unit unit : Unit.values()) {
            List<WindowFunction> here = functions.stream()
                    .filter(function -> function.unit() == unit)
                    .toList();
            if (here.isEmpty()) {
                continue;
            }
            rows = unit == Unit.ROW
                    ? new SlidingRows(rows, read, type, order, here, share, meter)
                    : new UnitRows(rows, read, type, order, unit, here, share, meter);
            read = type;
        }
        return rows;
    }
}
