package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.core.geo.Zone;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.component.Entries.Entry;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.memory.CollectedChunks;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.rtree.NearestByCurve;
import io.turbidite.lsm.rtree.NearestCursor;
import io.turbidite.lsm.rtree.SkippingCursor;
import io.turbidite.lsm.rtree.WindowWork;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.ToLongFunction;

/** Very many points at one place, or on one line: nothing is lost, shown twice, or without end. */
class CrowdedPlacesTest {
    private static final int POINTS = Tier.count(10_000, 50_000, 1_000_000);
    private static final int NEIGHBOURS = 50;

    enum Shape {
        /** Coordinates that are floats, as borders of boxes are. */
        ONE_FLOAT(i -> new Point(2.5, 48.5)),
        /** Each box is a bit wider than the place, and so seems nearer. */
        ONE_PLACE(i -> new Point(0.1, 51.3)),
        /** Every box is as high as nothing. */
        LEVEL_LINE(i -> new Point(i / 16.0 - 100, 0.5)),
        STEEP_LINE(i -> new Point(-7.3, i * 1e-5)),
        DIAGONAL(i -> new Point(i * 1e-4, i * 1e-4));

        @SuppressWarnings("ImmutableEnumChecker") // functions that keep nothing
        private final IntFunction<Point> point;

        Shape(IntFunction<Point> point) {
            this.point = point;
        }
    }

    private static Entries entries(Shape shape) {
        ByteSink sink = new ByteSink(64, 64);
        List<Entry> entries = new ArrayList<>(POINTS);
        for (int i = 0; i < POINTS; i++) {
            Point at = shape.point.apply(i);
            SpatialKind.POINT.append(at.x(), at.y(), at.x(), at.y(), sink.clear());
            sink.putInt(Integer.reverseBytes(i));
            byte[] key = sink.asSlice(new Slice()).toByteArray();
            entries.add(new Entry(key, 1_000 + i, false, new byte[0]));
        }
        return Entries.of(entries);
    }

    @ParameterizedTest
    @EnumSource
    void windowsAndNeighboursAreThoseOfAScan(Shape shape) {
        Entries entries = entries(shape);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, ComponentOptions.secondary().withBoxes(SpatialKind.POINT), entries);
        try (BufferCache cache = Components.cache(64 << 20);
                DiskComponent component = Components.open(disk, cache);
                MemoryComponent memory = MemoryComponent.create(new CollectedChunks())) {
            for (Entry entry : entries.sorted) {
                memory.put(entry.keySlice(), entry.timestamp(), entry.antimatter(), new Slice());
            }
            for (Rectangle window : windows(shape)) {
                long expected = inside(shape, window);
                ToLongFunction<EntryCursor> counted = cursor -> {
                    try (cursor) {
                        long count = 0;
                        while (cursor.next()) {
                            count++;
                        }
                        return count;
                    }
                };
                WindowSearch search = new WindowSearch(SpatialKind.POINT, window);
                WindowWork work = new WindowWork();
                assertThat(counted.applyAsLong(component.windowCursor(search, work)))
                        .as("%s", window)
                        .isEqualTo(expected);
                assertThat(work.counted().entryCount())
                        .as("looked at in %s", window)
                        .isLessThanOrEqualTo(expected + 256);
                assertThat(counted.applyAsLong(
                                new SkippingCursor(memory.cursor(), search, new WindowWork())))
                        .as("%s in memory", window)
                        .isEqualTo(expected);
            }
            Zone all = Zone.of(windows(shape).getLast());
            assertThat(component.estimateEntries(all)).isEqualTo(POINTS);
            Point middle = shape.point.apply(POINTS / 3);
            for (Place place : List.of(
                    new Place(Metric.PLANE, middle.x(), middle.y()),
                    new Place(Metric.PLANE, middle.x() + 0.25, middle.y() - 3))) {
                List<Entry> nearest = nearest(entries, place);
                walk(component.nearestCursor(SpatialKind.POINT, place, new WindowWork()), nearest);
                walk(
                        new NearestByCurve(
                                SpatialKind.POINT, place, memory.cursor(), new WindowWork()),
                        nearest);
            }
        }
    }

    /** The place itself, beside it, a part of the line, and everything. */
    private static List<Rectangle> windows(Shape shape) {
        Point from = shape.point.apply(POINTS / 4);
        Point to = shape.point.apply(POINTS / 2);
        return List.of(
                new Rectangle(from.x(), from.y(), to.x(), to.y()),
                new Rectangle(from.x(), from.y(), from.x(), from.y()),
                // so far away as borders of boxes, which are floats, can tell
                new Rectangle(from.x() - 1, to.y() + 1e-4, from.x() - 1e-4, to.y() + 1),
                new Rectangle(-1e9, -1e9, 1e9, 1e9));
    }

    private static long inside(Shape shape, Rectangle window) {
        Box bounds = new Box().set(window);
        Box box = new Box();
        long count = 0;
        for (int i = 0; i < POINTS; i++) {
            Point at = shape.point.apply(i);
            count += bounds.intersects(box.set(at.x(), at.y(), at.x(), at.y())) ? 1 : 0;
        }
        return count;
    }

    private static double distance(Entry entry, Place place) {
        Box box = new Box();
        SpatialKind.POINT.decode(entry.keySlice(), 0, box);
        return place.distance(box);
    }

    /** By distance and key. */
    private static List<Entry> nearest(Entries entries, Place place) {
        record Far(Entry entry, double distance) {}
        return entries.sorted.stream()
                .map(entry -> new Far(entry, distance(entry, place)))
                .sorted(Comparator.comparingDouble(Far::distance))
                .limit(NEIGHBOURS)
                .map(Far::entry)
                .toList();
    }

    /** From the first one on, and again from behind one of them. */
    private static void walk(NearestCursor cursor, List<Entry> nearest) {
        try (cursor) {
            for (Entry entry : nearest) {
                assertThat(cursor.next()).isTrue();
                assertThat(key(cursor)).isEqualTo(entry.key());
            }
            ByteSink behind = new ByteSink(64, 128);
            cursor.seek(Slice.of(new byte[0]));
            for (int i = 0; i < NEIGHBOURS / 2; i++) {
                assertThat(cursor.next()).isTrue();
            }
            cursor.seek(behind.putBytes(cursor.key()).putByte(0).asSlice(new Slice()));
            assertThat(cursor.next()).isTrue();
            assertThat(key(cursor)).isEqualTo(nearest.get(NEIGHBOURS / 2).key());
        }
    }

    private static byte[] key(NearestCursor cursor) {
        byte[] shown = cursor.key().toByteArray();
        return Arrays.copyOfRange(shown, NearestCursor.DISTANCE_BYTES, shown.length);
    }
}
