package io.turbidite.bench.spatial;

import org.h2.mvstore.MVStore;
import org.h2.mvstore.rtree.MVRTreeMap;
import org.h2.mvstore.rtree.Spatial;
import org.locationtech.jts.geom.Envelope;

/**
 * The R-tree of H2, in memory. Its borders are floats, here rounded outwards; so what it finds is
 * compared with the point itself.
 */
final class H2Points implements SpatialPeer, AutoCloseable {
    private final MVStore store = MVStore.open(null);
    private final MVRTreeMap<Integer> map;
    private final double[] xy;

    /**
     * @param xy the points, two coordinates each
     */
    H2Points(double[] xy) {
        this.xy = xy;
        map = store.openMap("points", new MVRTreeMap.Builder<>());
        for (int i = 0; i < xy.length / 2; i++) {
            map.add(new Key(i, xy[2 * i], xy[2 * i + 1], xy[2 * i], xy[2 * i + 1]), i);
        }
    }

    @Override
    public String name() {
        return "H2 MVRTreeMap";
    }

    @Override
    public long count(Envelope window) {
        Key key =
                new Key(0, window.getMinX(), window.getMinY(), window.getMaxX(), window.getMaxY());
        long count = 0;
        MVRTreeMap.RTreeCursor<Integer> found = map.findIntersectingKeys(key);
        while (found.hasNext()) {
            int id = (int) found.next().getId();
            count += window.covers(xy[2 * id], xy[2 * id + 1]) ? 1 : 0;
        }
        return count;
    }

    @Override
    public void close() {
        store.closeImmediately();
    }

    private static final class Key implements Spatial {
        private final long id;
        private final float[] borders;

        Key(long id, double minX, double minY, double maxX, double maxY) {
            this(id, new float[] {below(minX), below(minY), above(maxX), above(maxY)});
        }

        private Key(long id, float[] borders) {
            this.id = id;
            this.borders = borders;
        }

        private static float below(double value) {
            return Math.nextDown((float) value);
        }

        private static float above(double value) {
            return Math.nextUp((float) value);
        }

        @Override
        public float min(int dimension) {
            return borders[dimension];
        }

        @Override
        public void setMin(int dimension, float value) {
            borders[dimension] = value;
        }

        @Override
        public float max(int dimension) {
            return borders[2 + dimension];
        }

        @Override
        public void setMax(int dimension, float value) {
            borders[2 + dimension] = value;
        }

        @Override
        public Spatial clone(long newId) {
            return new Key(newId, borders.clone());
        }

        @Override
        public long getId() {
            return id;
        }

        @Override
        public boolean isNull() {
            return false;
        }

        @Override
        public boolean equalsIgnoringId(Spatial other) {
            return min(0) == other.min(0)
                    && min(1) == other.min(1)
                    && max(0) == other.max(0)
                    && max(1) == other.max(1);
        }
    }
}
