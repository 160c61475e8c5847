package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.geo.Zone;
import io.turbidite.core.type.Rectangle;

import java.util.List;
import java.util.Objects;

/**
 * What is asked of an index. <em>Immutable.</em>
 *
 * <p>Invariant: whether an entry is in the answer is told by its key alone, so anti-matter is in
 * every answer that what it deletes is in.
 */
public sealed interface IndexSearch
        permits KeyRange, IndexSearch.Spatial, IndexSearch.Newest, TermSearch {
    /** Whether an entry with this key, secondary and primary key, is in the answer. */
    boolean contains(Slice entryKey);

    /**
     * The entries of one secondary key, the newest first: by (timestamp descending, primary key).
     * Asked of an index of kind {@code pm}, which has this order. A cursor goes forward only, and
     * reads no more than was asked of it.
     *
     * @param entries the range of all entries of the key, which is its lower bound
     */
    record Newest(KeyRange entries) implements IndexSearch {
        public Newest {
            if (entries.low() == null) {
                throw new IllegalArgumentException("the newest of all keys");
            }
        }

        /** The newest entries of a secondary key. */
        public static Newest of(byte[] secondaryKey) {
            return new Newest(KeyRange.startingWith(secondaryKey));
        }

        /** The encoded secondary key. */
        public Slice secondaryKey() {
            return Objects.requireNonNull(entries.low());
        }

        @Override
        public boolean contains(Slice entryKey) {
            return entries.contains(entryKey);
        }
    }

    /** What is asked of an R-tree, by where its values lie. */
    sealed interface Spatial extends IndexSearch permits Window, SphericWindow, Around, Nearest {
        /** What the index has keys of. */
        SpatialKind kind();

        /** Where they lie; no value is in two of them. */
        List<Zone> zones();

        @Override
        default boolean contains(Slice entryKey) {
            Box value = new Box();
            kind().decode(entryKey, 0, value);
            return zones().stream().anyMatch(zone -> zone.holds(value));
        }
    }

    /**
     * The points of an R-tree that are in a window, or its rectangles that meet it; borders belong
     * to both.
     *
     * @param kind what the index has keys of
     * @param bounds the window
     */
    record Window(SpatialKind kind, Rectangle bounds) implements Spatial {
        @Override
        public List<Zone> zones() {
            return List.of(Zone.of(bounds));
        }
    }

    /**
     * The points of an R-tree on the sphere that are in a window.
     *
     * @param parts what the window is; no two of them have a place in common
     */
    record SphericWindow(List<Rectangle> parts) implements Spatial {
        public SphericWindow {
            parts = List.copyOf(parts);
        }

        @Override
        public SpatialKind kind() {
            return SpatialKind.POINT;
        }

        @Override
        public List<Zone> zones() {
            return parts.stream().map(Zone::of).toList();
        }
    }

    /**
     * The points and rectangles of an R-tree that are within a distance of a place.
     *
     * @param kind what the index has keys of
     */
    record Around(SpatialKind kind, Circle circle) implements Spatial {
        @Override
        public List<Zone> zones() {
            return circle.zones();
        }
    }

    /**
     * All values of an R-tree, the nearest to a place first: by (distance, key). A cursor goes
     * forward only.
     *
     * @param kind what the index has keys of
     */
    record Nearest(SpatialKind kind, Place place) implements Spatial {
        private static final List<Zone> EVERYWHERE = List.of(Zone.of(new Rectangle(
                -Double.MAX_VALUE, -Double.MAX_VALUE, Double.MAX_VALUE, Double.MAX_VALUE)));

        @Override
        public List<Zone> zones() {
            return EVERYWHERE;
        }
    }
}
