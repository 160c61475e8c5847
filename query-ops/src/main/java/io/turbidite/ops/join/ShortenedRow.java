package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

import java.util.stream.IntStream;

/**
 * A left row without the fields that nobody looks at: where it must be written to a run, its other
 * bytes would be written and read for nothing. It has the type's bytes, with fields missing.
 * <em>Confined to one thread.</em>
 */
final class ShortenedRow {
    private final RecordWriter writer;
    private final RecordView left;
    private final int[] fields;

    ShortenedRow(RecordType leftType, HashJoin.Output output) {
        this.writer = new RecordWriter(JoinedRow.loose(leftType));
        this.left = new RecordView(leftType);
        this.fields = JoinedRow.used(leftType, IntStream.of(JoinedRow.tops(leftType)), output);
    }

    /** Of this row; valid until the next. */
    Slice of(Slice leftRow) {
        left.wrap(leftRow);
        writer.begin();
        for (int field : fields) {
            writer.copy(field, left, field);
        }
        return writer.finish();
    }
}
