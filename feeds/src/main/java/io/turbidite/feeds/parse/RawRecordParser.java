package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.hashlog.parse.Rejection;
import io.turbidite.hashlog.parse.ScanMode;
import io.turbidite.hashlog.parse.WholeObject;

import java.util.function.Predicate;

/**
 * Takes each line that is a whole JSON object, or each row of CSV, as it is. <em>Confined to one
 * thread.</em>
 */
public final class RawRecordParser implements RecordParser {
    private final boolean json;
    private final WholeObject whole = WholeObject.of(ScanMode.best());
    private final RecordFramer.Quotes quotes;
    private final Predicate<RecordFrame> header;
    private final Predicate<RecordFrame> row;
    private final Slice record = new Slice();

    /**
     * A parser that leaves parsing to others.
     *
     * @param json whether that is what lines are, so that a closing bracket ends one too
     */
    public RawRecordParser(boolean json) {
        this(json, RecordFramer.Quotes.NONE, first -> false, line -> false);
    }

    /**
     * The same.
     *
     * @param quotes within which a line end ends no record
     * @param header whether the first record of a file only names the columns
     * @param row whether a line is surely a record by itself, as {@link #standsAlone}
     */
    public RawRecordParser(
            boolean json,
            RecordFramer.Quotes quotes,
            Predicate<RecordFrame> header,
            Predicate<RecordFrame> row) {
        this.header = header;
        this.row = row;
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
    public boolean leavesOut(RecordFrame first) {
        return header.test(first);
    }

    @Override
    public boolean standsAlone(RecordFrame line) {
        return row.test(line);
    }

    @Override
    public boolean isWhole(RecordFrame frame) {
        return json && JsonEnd.isWhole(frame.bytes(), frame.start(), frame.length());
    }

    @Override
    public void header(RecordFrame frame) {
        throw new IllegalStateException("lines have no header");
    }

    @Override
    public Slice parse(RecordFrame frame) {
        Rejection rejection =
                json ? whole.check(frame.segment(), frame.start(), frame.length()) : null;
        if (rejection != null) {
            throw new InvalidRequestException(rejection.toString());
        }
        return record.set(frame.segment(), frame.start(), frame.length());
    }
}
