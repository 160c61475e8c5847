package io.turbidite.ops.search;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * How the entries of a B+-tree are gone through for the first few rows of an order. <em>Immutable.
 * </em>
 *
 * @param descending from the last entry to the first
 * @param kinds of the fields of an entry, those of the secondary key, then those of the primary
 *     key, as far as the order goes by them: entries that are equal in these may come in any order
 * @param isExact whether rows are wanted in the order of whole entries, so that none of these may
 *     come in any other order than theirs
 */
public record IndexWalk(boolean descending, List<TypeKind> kinds, boolean isExact) {
    public IndexWalk {
        kinds = List.copyOf(kinds);
    }

    /**
     * Whether two entries, each its secondary key with the primary key behind it, are equal in what
     * the order goes by.
     */
    public boolean areTies(Slice entry, Slice other) {
        int at = 0;
        for (int i = 0; i < kinds.size(); i++) {
            at += KeyCodec.length(kinds.get(i), entry, at);
        }
        return other.length() >= at
                && MemorySegment.mismatch(
                                entry.segment(),
                                entry.offset(),
                                entry.offset() + at,
                                other.segment(),
                                other.offset(),
                                other.offset() + at)
                        < 0;
    }

    /** Below 0 if an entry comes before another one. */
    public int compare(Slice entry, Slice other) {
        int order = entry.compareBytes(other);
        return descending ? -order : order;
    }
}
