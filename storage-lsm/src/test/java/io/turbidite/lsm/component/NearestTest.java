package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.component.Entries.Entry;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.memory.CollectedChunks;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.rtree.NearestByCurve;
import io.turbidite.lsm.rtree.NearestCursor;
import io.turbidite.lsm.rtree.WindowWork;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.locationtech.jts.geom.Coordinate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Neighbours in a component and in memory are those of a sort by distances that JTS agrees with.
 */
class NearestTest {
    /** How data lies: in clusters of this width; all on a few circles; all at one place. */
    private enum Shape {
        DENSE(1e-9),
        CLUSTERS(1),
        SPREAD(40),
        HUGE(1e30),
        CIRCLES(0),
        ONE_PLACE(0);

        private final double spread;

        Shape(double spread) {
            this.spread = spread;
        }
    }

    private final SplittableRandom random = new SplittableRandom(Seeds.of("NearestTest"));

    private Rectangle value(SpatialKind kind, Shape shape) {
        if (shape == Shape.ONE_PLACE) {
            return new Rectangle(2.5, 48.5, 2.5, 48.5);
        }
        double x;
        double y;
        if (shape == Shape.CIRCLES) {
            // 24 * 24 + 7 * 7 = 20 * 20 + 15 * 15 = 25 * 25
            double[][] legs = {{24, 7}, {20, 15}, {25, 0}, {0, 25}, {7, 24}, {15, 20}};
            double[] leg = legs[random.nextInt(legs.length)];
            x = leg[0] * (random.nextBoolean() ? 1 : -1);
            y = leg[1] * (random.nextBoolean() ? 1 : -1);
            return new Rectangle(x, y, x, y);
        }
        x = random.nextInt(-4, 5) * 30 + random.nextDouble(-1, 1) * shape.spread;
        y = random.nextInt(-2, 3) * 30 + random.nextDouble(-1, 1) * shape.spread;
        double size = random.nextInt(4) == 0 ? 0 : Math.scalb(shape.spread, -random.nextInt(20));
        return kind == SpatialKind.POINT
                ? new Rectangle(x, y, x, y)
                : new Rectangle(x, y, x + size, y + random.nextDouble() * size);
    }

    private Entries entries(SpatialKind kind, int count, Shape shape) {
        List<Entry> entries = new ArrayList<>();
        ByteSink sink = new ByteSink(64, 128);
        for (int i = 0; i < count; i++) {
            Rectangle value = value(kind, shape);
            sink.clear();
            kind.append(value.minX(), value.minY(), value.maxX(), value.maxY(), sink);
            byte[] key = sink.putLongBigEndian(i).asSlice(new Slice()).toByteArray();
            boolean antimatter = random.nextInt(10) == 0;
            entries.add(new Entry(key, 1_000_000 + i, antimatter, new byte[0]));
            if (i % 50 == 0) {
                entries.add(new Entry(key, 1_000 + i, false, new byte[0]));
            }
        }
        return Entries.of(entries);
    }

    private Place place(SpatialKind kind, Shape shape) {
        if (shape == Shape.CIRCLES && random.nextBoolean()) {
            return new Place(Metric.PLANE, 0, 0);
        }
        Rectangle near = value(kind, shape);
        double away = random.nextInt(3) * random.nextDouble() * (shape.spread + 1);
        return new Place(Metric.PLANE, near.minX() + away, near.minY());
    }

    /** An entry with its distance. */
    private record Far(double distance, Entry entry) {}

    private static List<Far> sorted(Entries entries, SpatialKind kind, Place place) {
        Coordinate from = new Coordinate(place.x(), place.y());
        Box box = new Box();
        List<Far> all = new ArrayList<>();
        for (Entry entry : entries.sorted) {
            kind.decode(entry.keySlice(), 0, box);
            double x = Math.clamp(from.x, box.minX(), box.maxX());
            double y = Math.clamp(from.y, box.minY(), box.maxY());
            double distance = Math.sqrt((x - from.x) * (x - from.x) + (y - from.y) * (y - from.y));
            // JTS rounds in another way
            assertThat(new Coordinate(x, y).distance(from))
                    .isBetween(Math.nextDown(distance), Math.nextUp(distance));
            all.add(new Far(distance, entry));
        }
        all.sort(Comparator.comparingDouble(Far::distance)); // stable: by key, newest first
        return all;
    }

    private static byte[] key(double distance, byte[] entryKey) {
        return new ByteSink(64, 256)
                .putLongBigEndian(Double.doubleToRawLongBits(distance))
                .putBytes(entryKey)
                .asSlice(new Slice())
                .toByteArray();
    }

    private static void assertStandsOn(EntryCursor cursor, Far expected) {
        assertThat(cursor.next()).isTrue();
        assertThat(cursor.key().toByteArray())
                .isEqualTo(key(expected.distance, expected.entry.key()));
        assertThat(cursor.timestamp()).isEqualTo(expected.entry.timestamp());
        assertThat(cursor.isAntimatter()).isEqualTo(expected.entry.antimatter());
    }

    /** All from the start; then from anywhere. */
    private void walk(EntryCursor cursor, List<Far> expected) {
        for (Far far : expected) {
            assertStandsOn(cursor, far);
        }
        assertThat(cursor.next()).isFalse();
        assertThat(cursor.next()).isFalse();
        for (int i = 0; i < 6; i++) {
            Far from = expected.get(random.nextInt(expected.size()));
            double distance = random.nextInt(4) == 0 ? from.distance * 1.01 : from.distance;
            byte[] entryKey = random.nextInt(4) == 0
                    ? Arrays.copyOf(from.entry.key(), random.nextInt(from.entry.key().length))
                    : from.entry.key();
            byte[] target = key(distance, entryKey);
            cursor.seek(Slice.of(target));
            expected.stream()
                    .filter(far ->
                            Arrays.compareUnsigned(key(far.distance, far.entry.key()), target) >= 0)
                    .limit(300)
                    .forEach(far -> assertStandsOn(cursor, far));
        }
        cursor.seekEnd();
        assertThat(cursor.next()).isFalse();
        cursor.seek(new Slice());
        assertStandsOn(cursor, expected.getFirst());
    }

    @ParameterizedTest
    @EnumSource
    void boxesLeadToTheNearestFirstHoweverFewMayWait(SpatialKind kind) {
        for (Shape shape : Shape.values()) {
            Entries entries = entries(kind, 900, shape);
            SimDisk disk = new SimDisk(1, Profile.STRICT);
            Components.write(
                    disk,
                    ComponentOptions.secondary().withPageBytes(4_096).withBoxes(kind),
                    entries);
            try (BufferCache cache = Components.cache(8 << 20);
                    DiskComponent component = Components.open(disk, cache)) {
                for (int waiting : new int[] {3, 40, 400, NearestCursor.WAITING_MAX}) {
                    Place place = place(kind, shape);
                    try (EntryCursor cursor =
                            component.nearestCursor(kind, place, new WindowWork(), waiting)) {
                        walk(cursor, sorted(entries, kind, place));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void theCurveLeadsToTheNearestFirstHoweverFewMayWait(SpatialKind kind) {
        for (Shape shape : Shape.values()) {
            Entries entries = entries(kind, 900, shape);
            try (MemoryComponent memory = MemoryComponent.create(new CollectedChunks())) {
                for (Entry entry : entries.sorted) {
                    memory.put(
                            entry.keySlice(), entry.timestamp(), entry.antimatter(), new Slice());
                }
                for (int waiting : new int[] {3, 40, 400, NearestCursor.WAITING_MAX}) {
                    Place place = place(kind, shape);
                    try (EntryCursor cursor = new NearestByCurve(
                            kind, place, memory.cursor(), new WindowWork(), waiting)) {
                        walk(cursor, sorted(entries, kind, place));
                    }
                }
            }
        }
    }

    @Test
    void tenNeighboursTakeFewEntries() {
        Entries entries = entries(SpatialKind.POINT, 20_000, Shape.CLUSTERS);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(
                disk,
                ComponentOptions.secondary().withPageBytes(4_096).withBoxes(SpatialKind.POINT),
                entries);
        long diskEntries = 0;
        long memoryEntries = 0;
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache);
                MemoryComponent memory = MemoryComponent.create(new CollectedChunks())) {
            for (Entry entry : entries.sorted) {
                memory.put(entry.keySlice(), entry.timestamp(), entry.antimatter(), new Slice());
            }
            for (int i = 0; i < 100; i++) {
                Place place = place(SpatialKind.POINT, Shape.CLUSTERS);
                WindowWork onDisk = new WindowWork();
                WindowWork inMemory = new WindowWork();
                try (EntryCursor one = component.nearestCursor(SpatialKind.POINT, place, onDisk);
                        EntryCursor other = new NearestByCurve(
                                SpatialKind.POINT, place, memory.cursor(), inMemory)) {
                    for (int k = 0; k < 10; k++) {
                        assertThat(one.next()).isTrue();
                        assertThat(other.next()).isTrue();
                    }
                }
                diskEntries += onDisk.counted().entryCount();
                memoryEntries += inMemory.counted().entryCount();
            }
        }
        assertThat(diskEntries).isLessThan(100 * 400);
        assertThat(memoryEntries).isLessThan(100 * 900);
    }

    @Test
    void neighboursDoNotComeBackwards() {
        try (MemoryComponent memory = MemoryComponent.create(new CollectedChunks());
                EntryCursor cursor = new NearestByCurve(
                        SpatialKind.POINT,
                        new Place(Metric.PLANE, 0, 0),
                        memory.cursor(),
                        new WindowWork())) {
            assertThat(cursor.next()).isFalse();
            assertThatThrownBy(cursor::previous).isInstanceOf(InvalidRequestException.class);
        }
    }
}
