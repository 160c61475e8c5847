package io.turbidite.hashlog.psf;

import io.turbidite.hashlog.parse.FieldValues;

/**
 * A user's own PSF, registered by name in {@link PsfFunctions}. It must be a pure function of its
 * fields: it runs again after recovery and in full scans, on any thread, and should make no
 * garbage.
 *
 * <p>If it throws, the record is refused and its session's listener told; ingestion goes on. In a
 * full scan a record on which it throws has no value. It must not change the log's PSFs.
 */
@FunctionalInterface
public interface PsfFunction {
    /**
     * Reads the fields that the definition names and gives the value, or nothing for "not indexed".
     *
     * @param values the record's fields
     * @param fields the numbers of the definition's fields in {@code values}, in its order; not to
     *     be changed
     */
    void evaluate(FieldValues values, int[] fields, Result result);

    /**
     * Takes the value of a function; the last call counts, and without a call there is no value.
     */
    interface Result {
        /** The value is an integer. */
        void integer(long value);

        /**
         * The value is the text of these bytes of UTF-8, which are read after the function
         * returned.
         */
        void text(byte[] utf8, int offset, int length);

        /** The value is that of a field. */
        void field(int field);
    }
}
