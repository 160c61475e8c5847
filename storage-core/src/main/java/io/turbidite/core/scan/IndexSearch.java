package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.type.Rectangle;

/**
 * What is asked of an index. <em>Immutable.</em>
 *
 * <p>Invariant: whether an entry is in the answer is told by its key alone, so anti-matter is in
 * every answer that what it deletes is in.
 */
public sealed interface IndexSearch permits KeyRange, IndexSearch.Window, TermSearch {
    /** Whether an entry with this key, secondary and primary key, is in the answer. */
    boolean contains(Slice entryKey);

    /**
     * The points of an R-tree that are in a window, or its rectangles that meet it; borders belong
     * to both.
     *
     * @param kind what the index has keys of
     * @param bounds the window
     */
    record Window(SpatialKind kind, Rectangle bounds) implements IndexSearch {
        @Override
        public boolean contains(Slice entryKey) {
            Box value = new Box();
            kind.decode(entryKey, 0, value);
            return value.intersects(new Box().set(bounds));
        }
    }
}
