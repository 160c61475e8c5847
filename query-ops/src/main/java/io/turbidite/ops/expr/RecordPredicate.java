package io.turbidite.ops.expr;

import io.turbidite.core.record.RecordColumns;
import io.turbidite.core.record.RecordView;

/**
 * A predicate compiled for one record type. <em>Confined to one thread</em>: it may hold scratch
 * space.
 */
public interface RecordPredicate {
    /** Whether the record is wanted; it shows a record until the call ends. */
    boolean matches(RecordView record);

    /**
     * Leaves those of some records that are wanted, in their order: as {@link #matches} of each.
     *
     * @param rows which records; those that are left come first
     * @param count of rows
     * @return how many are left
     */
    default int narrow(RecordColumns records, int[] rows, int count) {
        int left = 0;
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            if (matches(records.view(row))) {
                rows[left++] = row;
            }
        }
        return left;
    }
}
