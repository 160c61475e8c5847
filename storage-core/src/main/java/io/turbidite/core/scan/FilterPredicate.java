package io.turbidite.core.scan;

import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.type.Rectangle;

import java.util.List;

/**
 * What a query knows about the filter fields. A search may skip anything that can't hold a record
 * inside every range and every window. It may still return records outside.
 *
 * @param ranges one range of encoded values for each filter field of the source, in its order;
 *     {@link KeyRange#all()} if the query knows none. A range that holds the null marker wants
 *     records without a value too; one that is open below holds it
 * @param windows what the query wants of points and rectangles; a field may have several
 */
public record FilterPredicate(List<KeyRange> ranges, List<Window> windows) {
    private static final FilterPredicate NONE = new FilterPredicate(List.of());

    /**
     * A window on a filter field: a point must be inside, a rectangle must meet it. A record
     * without a value does not match.
     *
     * @param field its place among the filter fields
     * @param kind whether the field has points or rectangles
     * @param bounds the window; borders belong to it
     */
    public record Window(int field, SpatialKind kind, Rectangle bounds) {}

    public FilterPredicate {
        ranges = List.copyOf(ranges);
        windows = List.copyOf(windows);
    }

    /** A predicate without windows. */
    public FilterPredicate(List<KeyRange> ranges) {
        this(ranges, List.of());
    }

    /** Knows nothing, skips nothing. */
    public static FilterPredicate none() {
        return NONE;
    }

    /** Whether it knows nothing. */
    public boolean isNone() {
        for (int i = 0; i < ranges.size(); i++) {
            if (!ranges.get(i).isAll()) {
                return false;
            }
        }
        return windows.isEmpty();
    }
}
