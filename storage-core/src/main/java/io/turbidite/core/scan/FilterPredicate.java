package io.turbidite.core.scan;

import java.util.List;

/**
 * What a query knows about the filter fields: one range of encoded values for each filter field of
 * the source, in its order; {@link KeyRange#all()} if it knows nothing. A search may skip anything
 * that can't hold a record inside every range. It may still return records outside.
 */
public record FilterPredicate(List<KeyRange> ranges) {
    private static final FilterPredicate NONE = new FilterPredicate(List.of());

    public FilterPredicate {
        ranges = List.copyOf(ranges);
    }

    /** Knows nothing, skips nothing. */
    public static FilterPredicate none() {
        return NONE;
    }

    public boolean isNone() {
        return ranges.stream().allMatch(KeyRange::isAll);
    }
}
