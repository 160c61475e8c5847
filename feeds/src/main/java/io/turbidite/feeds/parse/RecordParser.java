package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;

import java.util.function.Consumer;

/** Turns frames into encoded records of one type. <em>Confined to one thread.</em> */
public interface RecordParser {
    /** How this format's records end. */
    RecordFramer.Quotes quotes();

    /** Whether the first record of each file is a header, to be given to {@link #header}. */
    boolean wantsHeader();

    /**
     * Whether a text that begins as a JSON array is one, and each of its elements a record: see
     * {@link PeekedInput#beginsArray}.
     */
    default boolean takesElements() {
        return false;
    }

    /**
     * Whether files are object files of Avro. Their records are given to the parser as JSON, for
     * they have no end that one could see without the file's schema.
     */
    default boolean takesObjectFiles() {
        return false;
    }

    /**
     * Whether a message is no text, but bytes behind a JSON object: of the members that its source
     * makes of its other parts, empty if there are none.
     */
    default boolean takesMessages() {
        return false;
    }

    /**
     * Whether the first record of a file is none of those that are wanted, such as a header that
     * may be there.
     */
    default boolean leavesOut(RecordFrame first) {
        return false;
    }

    /**
     * Whether a record is complete though no line end follows it, by its own marks. Where a format
     * has none, more bytes may always belong to it.
     */
    default boolean isWhole(RecordFrame frame) {
        return false;
    }

    /**
     * Whether one line is surely a record by itself, and not text of some other record's field.
     * Where one can't tell it is not.
     */
    default boolean standsAlone(RecordFrame line) {
        return false;
    }

    /**
     * Learns a file's columns.
     *
     * @throws InvalidRequestException if the records below this header can't be of the type
     */
    void header(RecordFrame frame);

    /**
     * Whether a record may become far more than its text, or several records: then a batch may be
     * full behind any record, and its position must be known there.
     */
    default boolean makesMore() {
        return false;
    }

    /**
     * Converts one record.
     *
     * @return the encoded record, valid until the next call
     * @throws MalformedFrameException if the frame breaks the format's rules
     * @throws InvalidRequestException if it keeps them, but its values don't make a record of the
     *     type
     */
    Slice parse(RecordFrame frame);

    /**
     * Converts one record into what becomes of it: one record, unless the definition says
     * otherwise. Those who take records for good call this; {@link #parse} is for those who only
     * look.
     *
     * @param taker is given each record, valid until it returns
     * @return how many records were left out
     * @throws InvalidRequestException as {@link #parse}
     */
    default int parseAll(RecordFrame frame, Consumer<Slice> taker) {
        taker.accept(parse(frame));
        return 0;
    }
}
