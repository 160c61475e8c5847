package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.TextTest;

/** How many tokens of a question a text has. <em>Confined to one thread.</em> */
public final class TokenCountKey implements OrderKey {
    private final int field;
    private final boolean descending;
    private final TextTest test;
    private final Slice text = new Slice();

    /**
     * Counts in the text of a declared field.
     *
     * @param descending whether most come first
     */
    public TokenCountKey(int field, TextQuery asked, boolean descending) {
        this.field = field;
        this.descending = descending;
        this.test = asked.newTest();
    }

    @Override
    public void append(RecordView record, ByteSink sink) {
        long count = record.isAbsent(field) ? 0 : test.matchCount(record.getBytes(field, text));
        sink.putLongBigEndian(descending ? ~count : count);
    }
}
