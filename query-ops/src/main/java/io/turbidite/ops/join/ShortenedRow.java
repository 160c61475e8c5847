package io.turbidite.ops.join;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.stream.IntStream;

/**
 * A row of a side without the fields that nobody looks at: where it must be written to a run, or
 * kept in the table, its other bytes would be held for nothing. It has the type's bytes, with
 * fields missing. <em>Confined to one thread.</em>
 */
final class ShortenedRow {
    private final RecordWriter writer;
    private final RecordView row;
    private final int[] fields;

    ShortenedRow(RecordType type, HashJoin.Output output) {
        this(type, used(type, output));
    }

    private ShortenedRow(RecordType type, int[] fields) {
        this.writer = new RecordWriter(JoinedRow.loose(type));
        this.row = new RecordView(type);
        this.fields = fields;
    }

    private static int[] used(RecordType type, HashJoin.Output output) {
        return JoinedRow.used(type, IntStream.of(JoinedRow.tops(type)), output);
    }

    /** Null where rows would keep more than half of their fields: making them anew costs more. */
    static @Nullable ShortenedRow ifMuch(RecordType type, HashJoin.Output output) {
        int[] kept = used(type, output);
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
