package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/**
 * What is asked of an index. <em>Immutable.</em>
 *
 * <p>Invariant: whether an entry is in the answer is told by its key alone, so anti-matter is in
 * every answer that what it deletes is in.
 */
public sealed interface IndexSearch permits KeyRange {
    /** Whether an entry with this key, secondary and primary key, is in the answer. */
    boolean contains(Slice entryKey);
}
