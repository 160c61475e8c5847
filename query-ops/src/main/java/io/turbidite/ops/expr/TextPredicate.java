package io.turbidite.ops.expr;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.TextTest;

/** Whether a text matches a {@link TextQuery}. <em>Confined to one thread.</em> */
final class TextPredicate implements RecordPredicate {
    private final int field;
    private final TextTest test;
    private final Slice text = new Slice();

    TextPredicate(int field, TextQuery query) {
        this.field = field;
        this.test = query.newTest();
    }

    @Override
    public boolean matches(RecordView record) {
        return !record.isAbsent(field) && test.matches(record.getBytes(field, text));
    }
}
