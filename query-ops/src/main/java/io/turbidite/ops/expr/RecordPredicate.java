package io.turbidite.ops.expr;

import io.turbidite.core.record.RecordView;

/**
 * A predicate compiled for one record type. <em>Confined to one thread</em>: it may hold scratch
 * space.
 */
public interface RecordPredicate {
    /** Whether the record is wanted; it shows a record until the call ends. */
    boolean matches(RecordView record);
}
