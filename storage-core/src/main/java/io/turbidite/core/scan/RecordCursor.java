package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/**
 * Live records in primary key order, within a range, read in both directions.
 *
 * <p>It stands on a record or in a gap. Gaps are at the start of the range (where it begins, and
 * where a {@link #previous()} that found nothing leaves it), at the range's end, and before the
 * place of a key that {@code seek} was given. From a record both directions lead to its neighbours,
 * from a gap to the records on its two sides. So it may turn anywhere, and a move that found
 * nothing may be repeated. After a move that threw, seek before the next move.
 *
 * <pre>{@code
 * for (cursor.seekEnd(); cursor.previous();) { … } // descending
 * }</pre>
 *
 * <p>An idle open cursor holds no memory component and no file: at its next move it goes on from
 * the same key and shows the same moment.
 */
public interface RecordCursor extends RecordStream {
    /** Moves before the first record of the range whose encoded key is at or above {@code key}. */
    void seek(Slice key);

    /** Moves behind the last record of the range. */
    void seekEnd();

    /** Moves to the previous record; false at the start of the range. */
    boolean previous();
}
