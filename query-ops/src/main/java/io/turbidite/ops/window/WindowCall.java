package io.turbidite.ops.window;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.window.WindowFunction.Kind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.MathContext;

/**
 * A function at work: rows are added to it, and its value is set into rows. <em>Confined to one
 * thread.</em>
 */
final class WindowCall {
    private static final int NONE = -1;

    private final WindowFunction function;
    private final int field;
    private final int fallback;
    private final int target;
    private final @Nullable TypeKind kind;
    private final @Nullable Cell cell;
    private final @Nullable FieldKey key;
    private ByteSink best = new ByteSink(16, Integer.MAX_VALUE - 8);
    private ByteSink next = new ByteSink(16, Integer.MAX_VALUE - 8);
    private final Slice a = new Slice();
    private final Slice b = new Slice();
    private long count;

    /** The low and the high half of a sum of 128 bits, as groups have it: no order overflows it. */
    private long whole;

    private long wholeHigh;

    /**
     * A sum of doubles, and what rounding has taken from it (after Neumaier), as groups have it.
     */
    private double fraction;

    private double lost;
    private BigDecimal decimal = BigDecimal.ZERO;

    /** Of a running frame: the number of the next row that it takes. */
    private long fedTo;

    /**
     * @param of type of the rows that are added
     * @param made type of those that its value is set into
     */
    WindowCall(WindowFunction function, RecordType of, RecordType made) {
        this.function = function;
        this.field =
                function.argument() == null ? NONE : WindowFunction.index(of, function.argument());
        this.fallback =
                function.fallback() == null ? NONE : WindowFunction.index(of, function.fallback());
        this.target = WindowFunction.index(made, function.name());
        this.kind = field == NONE ? null : of.field(field).kind();
        boolean isExtreme = function.kind() == Kind.MIN || function.kind() == Kind.MAX;
        this.cell = field == NONE ? null : new Cell(of, field);
        this.key = isExtreme ? new FieldKey(of, field, function.kind() == Kind.MAX) : null;
    }

    WindowFunction function() {
        return function;
    }

    long fedTo() {
        return fedTo;
    }

    /** Forgets all rows. */
    void clear() {
        count = 0;
        whole = 0;
        wholeHigh = 0;
        fraction = 0;
        lost = 0;
        decimal = BigDecimal.ZERO;
        if (cell != null) {
            cell.clear();
        }
    }

    /** Forgets all rows, and goes on at one. */
    void clear(long newFedTo) {
        clear();
        fedTo = newFedTo;
    }

    /** Adds the next row of a running frame. */
    void feed(RecordView row) {
        add(row);
        fedTo++;
    }

    void add(RecordView row) {
        switch (function.kind()) {
            case COUNT -> count += field == NONE || !row.isAbsent(field) ? 1 : 0;
            case FIRST_VALUE -> {
                if (count++ == 0) {
                    cell().take(row, field);
                }
            }
            case NTH_VALUE -> {
                if (++count == function.number()) {
                    cell().take(row, field);
                }
            }
            case LAST_VALUE -> cell().take(row, field);
            case SUM, SUM0, AVG -> sum(row);
            case MIN, MAX -> extreme(row);
            default -> throw new IllegalStateException(function.toString());
        }
    }

    private Cell cell() {
        if (cell == null) {
            throw new IllegalStateException(function.toString());
        }
        return cell;
    }

    private void sum(RecordView row) {
        if (row.isAbsent(field)) {
            return;
        }
        count++;
        switch (kind) {
            case FLOAT, DOUBLE -> sum(row.getDouble(field));
            case DECIMAL -> decimal = decimal.add((BigDecimal) row.get(field));
            case null, default -> sum(row.getLong(field));
        }
    }

    private void sum(double value) {
        double sum = fraction + value;
        lost += Math.abs(fraction) >= Math.abs(value)
                ? fraction - sum + value
                : value - sum + fraction;
        fraction = sum;
    }

    private void sum(long value) {
        whole += value;
        wholeHigh += (value >> 63) + (Long.compareUnsigned(whole, value) < 0 ? 1 : 0);
    }

    /** The sum of doubles, or of whole numbers for their mean. */
    private double real() {
        if (kind == TypeKind.FLOAT || kind == TypeKind.DOUBLE) {
            // of an infinite sum nothing finite was lost
            return Double.isFinite(fraction) ? fraction + lost + 0.0 : fraction;
        }
        return fits() ? (double) whole : wholeHigh * 0x1p64 + (whole >>> 1) * 2.0 + (whole & 1);
    }

    private boolean fits() {
        return wholeHigh == whole >> 63;
    }

    private long whole() {
        if (!fits()) {
            throw new InvalidRequestException(
                    "the sum of '%s' does not fit its type".formatted(function.argument()));
        }
        return whole;
    }

    private void extreme(RecordView row) {
        if (row.isAbsent(field) || key == null) {
            return;
        }
        key.append(row, next.clear());
        if (count++ == 0 || next.asSlice(a).compareBytes(best.asSlice(b)) < 0) {
            ByteSink lost = best;
            best = next;
            next = lost;
            cell().take(row, field);
        }
    }

    /** Sets its value, of the rows that were added. */
    void set(RecordWriter row) {
        switch (function.kind()) {
            case COUNT -> row.setLong(target, count);
            case SUM, SUM0 -> {
                if (count == 0 && function.kind() == Kind.SUM) {
                    row.setNull(target);
                } else {
                    switch (kind) {
                        case FLOAT, DOUBLE -> row.setDouble(target, real());
                        case DECIMAL -> row.setObject(target, decimal);
                        case null, default -> row.setLong(target, whole());
                    }
                }
            }
            case AVG -> {
                if (count == 0) {
                    row.setNull(target);
                } else if (kind == TypeKind.DECIMAL) {
                    row.setDouble(
                            target,
                            decimal.divide(BigDecimal.valueOf(count), MathContext.DECIMAL128)
                                    .doubleValue());
                } else {
                    row.setDouble(target, real() / count);
                }
            }
            default -> cell().set(row, target);
        }
    }

    /** Sets a value that is counted. */
    void set(RecordWriter row, long number) {
        row.setLong(target, number);
    }

    /** Sets a share. */
    void set(RecordWriter row, double share) {
        row.setDouble(target, share);
    }

    /**
     * Sets the value of another row.
     *
     * @param other null: there is none
     */
    void set(RecordWriter row, @Nullable RecordView other, RecordView current) {
        Cell value = cell();
        if (other != null) {
            value.take(other, field);
        } else if (fallback != NONE) {
            value.take(current, fallback);
        } else {
            value.clear();
        }
        value.set(row, target);
    }
}
