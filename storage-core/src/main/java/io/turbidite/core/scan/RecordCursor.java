package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/**
 * Live records in primary key order, within a range, read in both directions.
 *
 * <p>It stands on a record, or in a gap: at the start of the range (where it begins, and where a {@link
 * #previous()} that found nothing leaves it), at the range's end, or before the place of a key that was
 * sought. From a record both directions lead to its neighbours, from a gap to the records on its two
 * sides; so it may turn anywhere, and a move that found nothing may be repeated. After a move that threw
 * it must be sought.
 *
 * <pre>{@code
 * for (cursor.seekEnd(); cursor.previous();) { … } // descending
 * }</pre>
 *
 * <p>An open cursor that nobody moves holds no memory component and no file: it goes on from the same key
 * when it is moved again, and shows the same moment.
 */
public interface RecordCursor extends RecordStream {
    /** Stands before the first record of the range whose encoded key is at or above {@code key}. */
    void seek(Slice key);

    /** Stands behind the last record of the range. */
    void seekEnd();

    /** Moves to the record before; false at the start of the range. */
    boolean previous();
}
