package io.turbidite.core.geo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

class HilbertTest {
    private final SplittableRandom random = new SplittableRandom(Seeds.of("HilbertTest"));

    private record Cell(long x, long y) {}

    /** The curve as it is drawn: four copies of the one of the level below, two of them turned. */
    private static List<Cell> drawn(int levels) {
        if (levels == 0) {
            return List.of(new Cell(0, 0));
        }
        long side = 1L << (levels - 1);
        List<Cell> quarter = drawn(levels - 1);
        List<Cell> all = new ArrayList<>();
        quarter.forEach(c -> all.add(new Cell(c.y, c.x)));
        quarter.forEach(c -> all.add(new Cell(c.x, c.y + side)));
        quarter.forEach(c -> all.add(new Cell(c.x + side, c.y + side)));
        quarter.forEach(c -> all.add(new Cell(2 * side - 1 - c.y, side - 1 - c.x)));
        return all;
    }

    @Test
    void numbersAreThoseOfTheDrawnCurve() {
        List<Cell> cells = drawn(8);
        for (int number = 0; number < cells.size(); number++) {
            int x = (int) (Integer.MIN_VALUE + cells.get(number).x);
            int y = (int) (Integer.MIN_VALUE + cells.get(number).y);
            assertEquals(number, Hilbert.number(x, y));
        }
    }

    @Test
    void aNumberGivesItsCellBackAndNeighboursAreNeighbours() {
        for (int i = 0; i < 100_000; i++) {
            int x = random.nextInt() >> random.nextInt(32);
            int y = random.nextInt() >> random.nextInt(32);
            long number = Hilbert.number(x, y);
            long cell = Hilbert.cell(number);
            assertEquals(x, Hilbert.x(cell));
            assertEquals(y, Hilbert.y(cell));
            long coarse = Hilbert.coarseCell(number);
            assertEquals(x & ~15, Hilbert.x(coarse));
            assertEquals(y & ~15, Hilbert.y(coarse));
            long near = Hilbert.beginning(number);
            assertEquals(Grid.restBits(x), Grid.restBits(Hilbert.x(near)));
            assertEquals(Grid.restBits(y), Grid.restBits(Hilbert.y(near)));
            assertEquals(x < 0, Hilbert.x(near) < 0);
            assertEquals(y < 0, Hilbert.y(near) < 0);
            if (number != -1L) {
                long next = Hilbert.cell(number + 1);
                long dx = Math.abs((long) Hilbert.x(next) - x);
                long dy = Math.abs((long) Hilbert.y(next) - y);
                assertEquals(1, dx + dy, () -> x + ", " + y);
            }
        }
    }

    @Test
    void numbersGrowFromCornerToCornerOfTheSameSide() {
        assertEquals(0, Hilbert.number(Integer.MIN_VALUE, Integer.MIN_VALUE));
        assertEquals(-1, Hilbert.number(Integer.MAX_VALUE, Integer.MIN_VALUE));
    }

    @Test
    void theNextCellOfARectangleIsTheOneThatAWalkWouldMeet() {
        List<Cell> cells = drawn(6);
        CurveWindow window = new CurveWindow();
        for (int i = 0; i < 300; i++) {
            int x1 = random.nextInt(64);
            int x2 = random.nextInt(x1, 64);
            int y1 = random.nextInt(64);
            int y2 = random.nextInt(y1, 64);
            int origin = Integer.MIN_VALUE;
            window.set(origin + x1, origin + y1, origin + x2, origin + y2);
            long next = -1;
            for (int from = cells.size() - 1; from >= 0; from--) {
                if (isInside(cells.get(from), x1, y1, x2, y2)) {
                    next = from;
                }
                // behind the 64 by 64 cells there are none
                assertEquals(next >= 0, window.find(from, true));
                if (next >= 0) {
                    assertEquals(next, window.found());
                }
            }
            long before = -1;
            for (int from = 0; from < cells.size(); from++) {
                if (isInside(cells.get(from), x1, y1, x2, y2)) {
                    before = from;
                }
                assertEquals(before >= 0, window.find(from, false));
                if (before >= 0) {
                    assertEquals(before, window.found());
                }
            }
            assertEquals(true, window.find(-1L, false));
            assertEquals(before, window.found());
        }
    }

    private static boolean isInside(Cell c, int x1, int y1, int x2, int y2) {
        return c.x >= x1 && c.x <= x2 && c.y >= y1 && c.y <= y2;
    }
}
