package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

import java.util.List;
import java.util.stream.IntStream;

/**
 * Puts together the rows of a join: fields of a left row and of a right one, as far as anybody
 * looks at them. <em>Confined to one thread.</em>
 */
final class JoinedRow {
    private final RecordWriter writer;
    private final RecordView left;
    private final RecordView right;
    private final int[] leftFields;
    private final int[] leftTargets;
    private final int[] rightFields;
    private final int[] rightTargets;

    /** Of each left field the right one that stands for it, or {@link PairField#NONE}. */
    private final int[] instead;

    JoinedRow(RecordType leftType, RecordType rightType, JoinOutput output) {
        List<PairField> fields = output.lookedAt();
        this.writer = new RecordWriter(loose(output.rowType()));
        this.left = new RecordView(leftType);
        this.right = new RecordView(rightType);
        List<PairField> ofLeft = fields.stream().filter(PairField::isOfLeft).toList();
        List<PairField> ofRight =
                fields.stream().filter(field -> !field.isOfLeft()).toList();
        this.leftFields = ofLeft.stream().mapToInt(PairField::field).toArray();
        this.leftTargets = ofLeft.stream().mapToInt(PairField::target).toArray();
        this.instead = ofLeft.stream().mapToInt(PairField::instead).toArray();
        this.rightFields = ofRight.stream().mapToInt(PairField::field).toArray();
        this.rightTargets = ofRight.stream().mapToInt(PairField::target).toArray();
    }

    /** The type with the same bytes in which any field at the top may be missing. */
    static RecordType loose(RecordType type) {
        return RecordType.of(type.declared().stream()
                .map(field -> field.as(field.name(), true))
                .toList());
    }

    /** The fields that lie in no other. */
    static int[] tops(RecordType type) {
        return IntStream.range(0, type.fields().size())
                .filter(field -> type.parent(field) == RecordType.TOP)
                .toArray();
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
