package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import java.util.List;

/**
 * Each row once for each element of an array that it has, with the element behind its fields. The
 * elements of a row come in their order. Nothing is kept, and no object made for a row.
 *
 * <p><em>Confined to one thread at a time.</em> Owns the rows that it reads.
 */
public final class UnnestedRows implements Rows {
    private static final int STOP_INTERVAL = 1_024;

    private final Rows input;
    private final RecordType type;
    private final Elements elements;
    private final RunOptions options;
    private final OperatorMeter meter;
    private final RecordWriter writer;
    private final RecordView row;
    private final int[] sources;
    private final int elementTarget;
    private final TypeKind kind;
    private final Slice bytes = new Slice();
    private boolean isInRow;
    private long number;
    private long count;

    /**
     * Whose elements, and what of them.
     *
     * @param array the index of the array
     * @param isNumbered whether the number of the element, from 1, stands behind it
     * @param keepsEmpty whether a row without elements is there once, with null behind its fields
     */
    public record Elements(int array, boolean isNumbered, boolean keepsEmpty) {}

    /**
     * @param type of the rows that are read
     * @param rowType the same with the element, and perhaps its number, behind
     */
    public UnnestedRows(
            Rows input,
            RecordType type,
            RecordType rowType,
            Elements elements,
            RunOptions options,
            OperatorMeter meter) {
        this.input = input;
        this.type = type;
        this.elements = elements;
        this.options = options;
        this.meter = meter;
        this.writer = new RecordWriter(rowType);
        this.row = new RecordView(rowType);
        this.sources = tops(type);
        this.kind = type.field(elements.array).elementKind();
        List<Field> made = rowType.declared();
        this.elementTarget = rowType.indexOf(made.get(type.declared().size()).name());
    }

    private static int[] tops(RecordType type) {
        int[] tops = new int[type.declared().size()];
        int field = 0;
        for (int i = 0; i < tops.length; i++) {
            tops[i] = field;
            field = type.behind(field);
        }
        return tops;
    }

    @Override
    public boolean next() {
        int each = type.eachOf(elements.array);
        while (true) {
            if (isInRow && input.row().nextElement(each)) {
                number++;
                return made(true);
            }
            isInRow = false;
            if (count++ % STOP_INTERVAL == 0) {
                options.checkNotStopped();
            }
            if (!input.next()) {
                return false;
            }
            if (input.row().firstElement(each)) {
                isInRow = true;
                number = 1;
                return made(true);
            }
            if (elements.keepsEmpty) {
                return made(false);
            }
        }
    }

    private boolean made(boolean hasElement) {
        RecordView from = input.row();
        writer.begin();
        for (int source : sources) {
            // the fields before the element have the places that they have in the input
            writer.copy(source, from, source);
        }
        int each = type.eachOf(elements.array);
        if (!hasElement || from.isAbsent(each)) {
            writer.setNull(elementTarget);
        } else {
            copy(from, each);
        }
        if (elements.isNumbered) {
            if (hasElement) {
                writer.setLong(elementTarget + 1, number);
            } else {
                writer.setNull(elementTarget + 1);
            }
        }
        row.wrap(writer.finish());
        meter.add(1);
        return true;
    }

    private void copy(RecordView from, int each) {
        if (KindValues.isLong(kind)) {
            writer.setLong(elementTarget, from.getLong(each));
            return;
        }
        switch (kind) {
            case FLOAT, DOUBLE -> writer.setDouble(elementTarget, from.getDouble(each));
            case STRING -> writer.setString(elementTarget, from.getBytes(each, bytes));
            case BINARY -> writer.setBinary(elementTarget, from.getBytes(each, bytes));
            default -> writer.setObject(elementTarget, from.get(each));
        }
    }

    @Override
    public RecordView row() {
        return row;
    }

    @Override
    public void close() {
        isInRow = false;
        input.close();
    }
}
