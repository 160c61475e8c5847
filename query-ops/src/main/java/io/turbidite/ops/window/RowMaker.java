package io.turbidite.ops.window;

import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

/** Rows with all that others have, to which more is set. <em>Confined to one thread.</em> */
final class RowMaker {
    private final RecordWriter writer;
    private final RecordView row;
    private final int[] tops;

    /** @param type of the rows; those that are copied have its first fields, or all */
    RowMaker(RecordType of, RecordType type) {
        this.writer = new RecordWriter(type);
        this.row = new RecordView(type);
        this.tops = new int[of.declared().size()];
        int field = 0;
        for (int i = 0; i < tops.length; i++) {
            tops[i] = field;
            field = of.behind(field);
        }
    }

    /** Begins a row like another; what is to be set goes where this leads. */
    RecordWriter begin(RecordView like) {
        writer.begin();
        for (int top : tops) {
            writer.copy(top, like, top);
        }
        return writer;
    }

    void finish() {
        row.wrap(writer.finish());
    }

    RecordView row() {
        return row;
    }
}
