package io.turbidite.hashlog.parse;

import java.lang.foreign.MemorySegment;

/**
 * Finds the wanted fields of one record after another: made by {@link ParserSpec#newParser} for a
 * list of paths. <em>Confined to one thread.</em>
 *
 * <p>What every parser keeps to:
 * <ol>
 * <li>it allocates nothing per record and takes in no byte outside of it;
 * <li>it stops as soon as every wanted field is found or released, and vouches only for what it
 *     read: a refusal means the record is malformed, but a record may be malformed after the last
 *     wanted field;
 * <li>where a name appears twice, the first counts, whatever it holds.
 * </ol>
 */
public interface RecordParser {
    /**
     * Finds the fields of the record of {@code length} bytes at {@code offset}.
     *
     * @return false if the record was refused: {@link FieldValues#rejection()} says why
     */
    boolean parse(MemorySegment segment, long offset, int length);

    /**
     * As {@link #parse}, for a record that was taken: a value that is none (a malformed number,
     * text that is not UTF-8) is missing, and costs no other. Where the record itself can't be
     * followed it is refused as there.
     *
     * @return false if the record was refused
     */
    default boolean read(MemorySegment segment, long offset, int length) {
        values().forgive(true);
        try {
            return parse(segment, offset, length);
        } finally {
            values().forgive(false);
        }
    }

    /** What was found; the same object for every record. */
    FieldValues values();
}
