package io.turbidite.core.geo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Shapes.Spread;
import io.turbidite.core.geo.WindowSearch.Way;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.type.Rectangle;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Searches in sorted keys that skip what is outside find what looking at each finds. */
class WindowSearchTest {
    private final SplittableRandom random = new SplittableRandom(Seeds.of("WindowSearchTest"));
    private final Shapes shapes = new Shapes(random);
    private int lookedAt;

    /** Keys in order, and what they are of. */
    private static NavigableMap<byte[], Rectangle> keys(SpatialKind kind, List<Rectangle> all) {
        TreeMap<byte[], Rectangle> keys = new TreeMap<>(Arrays::compareUnsigned);
        all.forEach(shape -> keys.put(Shapes.key(kind, shape), shape));
        return keys;
    }

    /** Looks at a few keys in a row before it seeks, as the cursor over a memory component does. */
    private List<Rectangle> search(
            NavigableMap<byte[], Rectangle> keys,
            SpatialKind kind,
            Rectangle window,
            boolean upwards) {
        WindowSearch search = new WindowSearch(kind, window);
        ByteSink target = new ByteSink(16, 64);
        List<Rectangle> found = new ArrayList<>();
        if (upwards) {
            search.first(target);
        } else {
            search.last(target);
        }
        byte[] from = target.asSlice(new Slice()).toByteArray();
        byte[] key = upwards ? keys.ceilingKey(from) : keys.lowerKey(from);
        while (key != null) {
            lookedAt++;
            Slice slice = Slice.of(key);
            boolean holds = search.holds(slice);
            int test = search.test(slice.segment().get(Bytes.I64_BE, 0));
            assertTrue(test == WindowSearch.UNDECIDED || (test == WindowSearch.INSIDE) == holds);
            Way way = Way.STEP;
            if (holds) {
                found.add(keys.get(key));
            } else {
                way = search.beside(slice, upwards, target);
            }
            if (way == Way.END) {
                return found;
            }
            if (way == Way.SEEK) {
                byte[] place = target.asSlice(new Slice()).toByteArray();
                assertTrue(upwards == Arrays.compareUnsigned(place, key) > 0);
                key = upwards ? keys.ceilingKey(place) : keys.lowerKey(place);
            } else {
                key = upwards ? keys.higherKey(key) : keys.lowerKey(key);
            }
        }
        return found;
    }

    @ParameterizedTest
    @EnumSource
    void everyWindowFindsWhatLookingAtEachFinds(SpatialKind kind) {
        for (Spread spread : Spread.values()) {
            List<Rectangle> all = shapes.shapes(kind, spread, 400);
            for (Spread other : Spread.values()) {
                all.addAll(shapes.shapes(kind, other, 20));
            }
            NavigableMap<byte[], Rectangle> keys = keys(kind, all);
            for (int i = 0; i < 300; i++) {
                Rectangle window = window(spread, all, i);
                List<Rectangle> expected = keys.values().stream()
                        .filter(shape -> Shapes.intersect(shape, window))
                        .toList();
                assertEquals(expected, search(keys, kind, window, true), window::toString);
                assertEquals(
                        expected.reversed(), search(keys, kind, window, false), window::toString);
            }
        }
    }

    private Rectangle window(Spread spread, List<Rectangle> all, int number) {
        double max = Double.MAX_VALUE;
        return switch (number % 4) {
            case 0 -> all.get(random.nextInt(all.size()));
            case 1 -> shapes.rectangle(spread);
            case 2 -> {
                // borders that are coordinates of what is there
                Rectangle a = all.get(random.nextInt(all.size()));
                Rectangle b = all.get(random.nextInt(all.size()));
                yield new Rectangle(
                        Math.min(a.maxX(), b.minX()),
                        Math.min(a.maxY(), b.minY()),
                        Math.max(a.maxX(), b.minX()),
                        Math.max(a.maxY(), b.minY()));
            }
            default ->
                number == 3 ? new Rectangle(-max, -max, max, max) : shapes.rectangle(Spread.BORDER);
        };
    }

    /** The bound of the issue: 2 for each found and 128 a class, in the mean. */
    @Test
    void smallWindowsLookAtFewEntriesForEachThatTheyFind() {
        List<Rectangle> all = shapes.shapes(SpatialKind.POINT, Spread.CLUSTERED, 200_000);
        NavigableMap<byte[], Rectangle> keys = keys(SpatialKind.POINT, all);
        int found = 0;
        int windows = 0;
        lookedAt = 0;
        for (int i = 0; i < 400; i++) {
            Rectangle near = all.get(random.nextInt(all.size()));
            double half = Math.scalb(1.0, -random.nextInt(10));
            Rectangle window = new Rectangle(
                    near.minX() - half, near.minY() - half, near.minX() + half, near.minY() + half);
            List<Rectangle> inside = search(keys, SpatialKind.POINT, window, true);
            if (inside.size() <= all.size() / 100) {
                found += inside.size();
                windows++;
            }
        }
        int seen = lookedAt;
        int allowed = 2 * found + 128 * windows;
        assertTrue(windows > 200 && seen <= allowed, seen + " looked at, " + allowed + " allowed");
    }
}
