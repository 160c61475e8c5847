package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * A parser behind which the definition says what becomes of a record: one that {@code explode}
 * makes several of, or that {@code where} leaves out. All that a record becomes is worked out
 * before any of it is given on, so that a failure gives nothing on. <em>Confined to one
 * thread.</em>
 *
 * <p>Memory: what one record becomes, {@value #RECORDS_MAX} records and 16 MiB at most.
 */
public final class ShapingParser implements RecordParser {
    /** The most records that one may become. */
    public static final int RECORDS_MAX = 4_096;

    private final RecordParser parser;
    private final @Nullable RecordFilter filter;
    private final ByteSink made = new ByteSink(1024, 2 * Limits.RECORD_BYTES_MAX);
    private int[] ends = new int[16];
    private final Slice slice = new Slice();

    private ShapingParser(RecordParser parser, @Nullable RecordFilter filter) {
        this.parser = parser;
        this.filter = filter;
    }

    /**
     * The parser itself if nothing is left out, and one record never becomes several.
     *
     * @param explodes whether {@code parser} makes several of one
     * @param where a condition on declared fields of {@code type}, or null
     * @throws InvalidRequestException if the condition is wrong
     */
    public static RecordParser of(
            RecordParser parser, RecordType type, boolean explodes, @Nullable String where) {
        return where == null && !explodes
                ? parser
                : new ShapingParser(parser, where == null ? null : new RecordFilter(type, where));
    }

    /**
     * Checks a condition.
     *
     * @throws InvalidRequestException saying what is wrong with it
     */
    public static void check(RecordType type, String where) {
        var _ = new RecordFilter(type, where);
    }

    @Override
    public int parseAll(RecordFrame frame, Consumer<Slice> taker) {
        made.clear();
        Made records = new Made();
        int leftOut = parser.parseAll(frame, records) + records.leftOut;
        for (int i = 0; i < records.count; i++) {
            int start = i == 0 ? 0 : ends[i - 1];
            taker.accept(slice.set(made.segment(), start, ends[i] - start));
        }
        return leftOut;
    }

    /** Takes what one record becomes. */
    private final class Made implements Consumer<Slice> {
        private int count;
        private int leftOut;

        @Override
        public void accept(Slice record) {
            if (filter != null && !filter.takes(record)) {
                leftOut++;
                return;
            }
            boolean isTooLong = made.length() + record.length() > Limits.RECORD_BYTES_MAX;
            if (count == RECORDS_MAX || (isTooLong && count > 0)) {
                throw new InvalidRequestException(
                        "it becomes more than %d records, or they have more than %d bytes"
                                .formatted(RECORDS_MAX, Limits.RECORD_BYTES_MAX));
            }
            made.putBytes(record);
            if (count == ends.length) {
                ends = Arrays.copyOf(ends, 2 * count);
            }
            ends[count++] = made.length();
        }
    }

    @Override
    public Slice parse(RecordFrame frame) {
        return parser.parse(frame);
    }

    @Override
    public RecordFramer.Quotes quotes() {
        return parser.quotes();
    }

    @Override
    public boolean wantsHeader() {
        return parser.wantsHeader();
    }

    @Override
    public boolean takesElements() {
        return parser.takesElements();
    }

    @Override
    public boolean takesObjectFiles() {
        return parser.takesObjectFiles();
    }

    @Override
    public boolean takesMessages() {
        return parser.takesMessages();
    }

    @Override
    public boolean leavesOut(RecordFrame first) {
        return parser.leavesOut(first);
    }

    @Override
    public boolean isWhole(RecordFrame frame) {
        return parser.isWhole(frame);
    }

    @Override
    public boolean standsAlone(RecordFrame line) {
        return parser.standsAlone(line);
    }

    @Override
    public boolean makesMore() {
        return parser.makesMore();
    }

    @Override
    public void header(RecordFrame frame) {
        parser.header(frame);
    }
}
