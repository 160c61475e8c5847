package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

/**
 * A row of a side without the fields that nobody looks at: where it must be written to a run, or
 * kept in the table, its other bytes would be held for nothing. It has the type's bytes, with
 * fields missing. <em>Confined to one thread.</em>
 */
final class ShortenedRow {
    private final RecordWriter writer;
    private final RecordView row;
    private final int[] fields;

    ShortenedRow(RecordType type, boolean isLeft, JoinOutput output) {
        this(type, used(isLeft, output));
    }

    private ShortenedRow(RecordType type, int[] fields) {
        this.writer = new RecordWriter(JoinedRow.loose(type));
        this.row = new RecordView(type);
        this.fields = fields;
    }

    /** Nobody looks at others; a left field may be told from the right row alone. */
    private static int[] used(boolean isLeft, JoinOutput output) {
        return output.lookedAt().stream()
                .mapToInt(field -> field.isOfLeft() == isLeft
                        ? field.field()
                        : isLeft ? PairField.NONE : field.instead())
                .filter(field -> field != PairField.NONE)
                .sorted()
                .distinct()
                .toArray();
    }

    /** Null where rows would keep more than half of their fields: making them anew costs more. */
    static @Nullable ShortenedRow ifMuch(RecordType type, boolean isLeft, JoinOutput output) {
        int[] kept = used(isLeft, output);
        return 2 * kept.length > JoinedRow.tops(type).length ? null : new ShortenedRow(type, kept);
    }

    /** Of this row; valid until the next. */
    Slice of(Slice whole) {
        row.wrap(whole);
        writer.begin();
        for (int field : fields) {
            writer.copy(field, row, field);
        }
        return writer.finish();
    }
}
