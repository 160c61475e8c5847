package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Puts together the rows of a join: the fields of a left row, and behind them those of a right one,
 * as far as anybody looks at them.
 * <em>Confined to one thread.</em>
 */
final class JoinedRow {
    private final RecordWriter writer;
    private final RecordView left;
    private final RecordView right;
    private final int[] leftFields;
    private final int[] leftTargets;
    private final int[] rightFields;
    private final int[] rightTargets;

    /** Of each left field the right one of its name that is not shown, or -1. */
    private final int[] instead;

    JoinedRow(RecordType leftType, RecordType rightType, HashJoin.Output output) {
        RecordType rowType = output.rowType();
        List<Integer> shown = output.shown();
        this.writer = new RecordWriter(loose(rowType));
        this.left = new RecordView(leftType);
        this.right = new RecordView(rightType);
        this.leftFields = used(leftType, IntStream.of(tops(leftType)), output);
        this.leftTargets = targets(leftType, leftFields, rowType);
        this.rightFields = used(rightType, shown.stream().mapToInt(Integer::intValue), output);
        this.rightTargets = targets(rightType, rightFields, rowType);
        this.instead = IntStream.of(leftFields)
                .map(field -> rightType.indexOf(leftType.field(field).name()))
                .map(field -> shown.contains(field) ? -1 : field)
                .toArray();
    }

    /** The type with the same bytes in which any field at the top may be missing. */
    static RecordType loose(RecordType type) {
        return RecordType.of(type.declared().stream()
                .map(field -> field.as(field.name(), true))
                .toList());
    }

    /** Those of some fields of a side that are looked at in the rows. */
    static int[] used(RecordType side, IntStream fields, HashJoin.Output output) {
        Set<Integer> used = output.used();
        return used == null
                ? fields.toArray()
                : fields.filter(field -> used.contains(
                                output.rowType().indexOf(side.field(field).name())))
                        .toArray();
    }

    /** The fields that lie in no other. */
    static int[] tops(RecordType type) {
        return IntStream.range(0, type.fields().size())
                .filter(field -> type.parent(field) == RecordType.TOP)
                .toArray();
    }

    private static int[] targets(RecordType type, int[] fields, RecordType rowType) {
        int[] targets = new int[fields.length];
        for (int i = 0; i < fields.length; i++) {
            targets[i] = rowType.indexOf(type.field(fields[i]).name());
        }
        return targets;
    }

    /** A pair; valid until the next. */
    Slice pair(Slice leftRow, Slice rightRow) {
        begin(leftRow);
        right.wrap(rightRow);
        for (int i = 0; i < rightFields.length; i++) {
            writer.copy(rightTargets[i], right, rightFields[i]);
        }
        return writer.finish();
    }

    /** A left row that has no right one. */
    Slice alone(Slice leftRow) {
        begin(leftRow);
        for (int target : rightTargets) {
            writer.setNull(target);
        }
        return writer.finish();
    }

    /** A right row that has no left one; it has what both would have under one name. */
    Slice rightAlone(Slice rightRow) {
        right.wrap(rightRow);
        writer.begin();
        for (int i = 0; i < leftFields.length; i++) {
            if (instead[i] < 0) {
                writer.setNull(leftTargets[i]);
            } else {
                writer.copy(leftTargets[i], right, instead[i]);
            }
        }
        for (int i = 0; i < rightFields.length; i++) {
            writer.copy(rightTargets[i], right, rightFields[i]);
        }
        return writer.finish();
    }

    private void begin(Slice leftRow) {
        left.wrap(leftRow);
        writer.begin();
        for (int i = 0; i < leftFields.length; i++) {
            writer.copy(leftTargets[i], left, leftFields[i]);
        }
    }
}
