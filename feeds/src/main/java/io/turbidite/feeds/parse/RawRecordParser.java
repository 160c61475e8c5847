package io.turbidite.feeds.parse;

import io.turbidite.core.bytes.Slice;

import java.util.function.Predicate;

/** Takes each line, or row of CSV, as it is. <em>Confined to one thread.</em> */
public final class RawRecordParser implements RecordParser {
    private final boolean json;
    private final RecordFramer.Quotes quotes;
    private final Predicate<Frame> header;
    private final Slice record = new Slice();

    /**
     * A parser that leaves parsing to others.
     *
     * @param json whether that is what lines are, so that a closing bracket ends one too
     */
    public RawRecordParser(boolean json) {
        this(json, RecordFramer.Quotes.NONE, first -> false);
    }

    /**
     * The same.
     *
     * @param quotes within which a line end ends no record
     * @param header whether the first record of a file only names the columns
     */
    public RawRecordParser(boolean json, RecordFramer.Quotes quotes, Predicate<Frame> header) {
        this.header = header;
        this.json = json;
        this.quotes = quotes;
    }

    @Override
    public RecordFramer.Quotes quotes() {
        return quotes;
    }

    @Override
    public boolean wantsHeader() {
        return false;
    }

    @Override
    public boolean leavesOut(Frame first) {
        return header.test(first);
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
