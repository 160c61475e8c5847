package io.turbidite.feeds.parse;

import io.turbidite.core.bytes.Slice;

/** Takes each line as it is. <em>Confined to one thread.</em> */
public final class RawRecordParser implements RecordParser {
    private final Slice record = new Slice();

    @Override
    public RecordFramer.Quotes quotes() {
        return RecordFramer.Quotes.NONE;
    }

    @Override
    public boolean wantsHeader() {
        return false;
    }

    @Override
    public void header(Frame frame) {
        throw new IllegalStateException("lines have no header");
    }

    @Override
    public Slice parse(Frame frame) {
        return record.set(frame.segment(), frame.start(), frame.length());
    }
}
