package io.turbidite.feeds.parse;

import io.turbidite.core.bytes.Slice;

/** Takes each line as it is. <em>Confined to one thread.</em> */
public final class RawRecordParser implements RecordParser {
    private final boolean json;
    private final Slice record = new Slice();

    /**
     * A parser that leaves parsing to others.
     *
     * @param json whether that is what lines are, so that a closing bracket ends one too
     */
    public RawRecordParser(boolean json) {
        this.json = json;
    }

    @Override
    public RecordFramer.Quotes quotes() {
        return RecordFramer.Quotes.NONE;
    }

    @Override
    public boolean wantsHeader() {
        return false;
    }

    @Override
    public boolean isWhole(Frame frame) {
        return json && JsonEnd.isWhole(frame.bytes(), frame.start(), frame.length());
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
