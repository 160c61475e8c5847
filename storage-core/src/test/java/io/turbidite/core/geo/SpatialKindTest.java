package io.turbidite.core.geo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Shapes.Spread;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.type.Rectangle;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Arrays;
import java.util.SplittableRandom;

class SpatialKindTest {
    private final SplittableRandom random = new SplittableRandom(Seeds.of("SpatialKindTest"));
    private final Shapes shapes = new Shapes(random);

    @ParameterizedTest
    @EnumSource
    void aKeyGivesItsValueBackAndEndsByItself(SpatialKind kind) {
        Box box = new Box();
        for (Spread spread : Spread.values()) {
            for (Rectangle shape : shapes.shapes(kind, spread, 2_000)) {
                byte[] key = Shapes.key(kind, shape);
                byte[] longer = Arrays.copyOf(key, key.length + random.nextInt(9));
                random.nextBytes(longer);
                System.arraycopy(key, 0, longer, 0, key.length);
                byte[] shifted = new byte[longer.length + 3];
                System.arraycopy(longer, 0, shifted, 3, longer.length);
                assertEquals(key.length, kind.length(Slice.of(shifted), 3), shape::toString);
                kind.decode(Slice.of(shifted), 3, box);
                // compareTo, not ==: the two zeros differ there
                Rectangle found = new Rectangle(box.minX(), box.minY(), box.maxX(), box.maxY());
                assertEquals(shape, found);
                assertTrue(key.length <= SpatialKind.KEY_BYTES_MAX);
                int cut = random.nextInt(key.length * 20);
                if (cut < key.length) {
                    Slice part = Slice.of(Arrays.copyOf(key, cut));
                    assertThrows(CorruptionException.class, () -> kind.length(part, 0));
                    assertThrows(CorruptionException.class, () -> kind.decode(part, 0, box));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void bothZerosAreOneKey(SpatialKind kind) {
        ByteSink plus = new ByteSink(64, 64);
        ByteSink minus = new ByteSink(64, 64);
        kind.append(0.0, 0.0, 0.0, 0.0, plus);
        kind.append(-0.0, -0.0, -0.0, -0.0, minus);
        assertArrayEquals(
                plus.asSlice(new Slice()).toByteArray(),
                minus.asSlice(new Slice()).toByteArray());
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotFiniteIsRefusedAndNothingIsAppended(SpatialKind kind) {
        for (double bad : new double[] {Double.NaN, 1 / 0.0, -1 / 0.0}) {
            ByteSink sink = new ByteSink(64, 64);
            assertThrows(InvalidRequestException.class, () -> kind.append(bad, 1, bad, 1, sink));
            assertThrows(InvalidRequestException.class, () -> kind.append(1, bad, 1, bad, sink));
            assertEquals(0, sink.length());
        }
    }

    @Test
    void degreesTakeSixteenBytes() {
        assertEquals(
                16, Shapes.key(SpatialKind.POINT, new Rectangle(77.1, 40.3, 77.1, 40.3)).length);
    }

    @Test
    void cellsAreOrderedAsNumbersAre() {
        for (Spread spread : Spread.values()) {
            for (int i = 0; i < 20_000; i++) {
                double a = shapes.coordinate(spread);
                double b = shapes.coordinate(spread);
                int gridClass = Grid.classOf(a, b);
                int order = Double.compare(a + 0.0, b + 0.0);
                int cells = Integer.compare(Grid.cell(a, gridClass), Grid.cell(b, gridClass));
                assertTrue(cells == 0 || order == cells, () -> a + " and " + b);
                assertTrue(Math.abs(a) < Grid.limit(gridClass));
                // of a class below it is outermost
                if (gridClass > 0 && Math.abs(a) >= Grid.limit(gridClass - 1)) {
                    int outermost = Grid.cell(a, gridClass - 1);
                    assertEquals(a < 0 ? Integer.MIN_VALUE : Integer.MAX_VALUE, outermost);
                }
            }
        }
    }

    @Test
    void floatsAreRoundedOutwards() {
        for (Spread spread : Spread.values()) {
            for (int i = 0; i < 20_000; i++) {
                double value = shapes.coordinate(spread);
                float below = Box.floatBelow(value);
                float above = Box.floatAbove(value);
                assertTrue(below <= value && Math.nextUp(below) > value, () -> "" + value);
                assertTrue(above >= value && Math.nextDown(above) < value, () -> "" + value);
            }
        }
    }
}
