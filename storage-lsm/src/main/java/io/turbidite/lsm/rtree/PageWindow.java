package io.turbidite.lsm.rtree;

import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Zone;

/**
 * A zone as the groups of one page see it: where its borders lie among the lines that a group's box
 * is made of. So four small integers are compared for each group, and no coordinate is computed.
 * <em>Confined to one thread;</em> moves from page to page.
 */
final class PageWindow {
    private final Boxes boxes;
    private final Zone zone;
    private final Box pageBox = new Box();
    private final Side x = new Side();
    private final Side y = new Side();
    private int page = -1;
    private int firstGroup;

    PageWindow(Boxes boxes, Zone zone) {
        this.boxes = boxes;
        this.zone = zone;
    }

    /** The borders along one coordinate. */
    private static final class Side {
        /** Part of a step by which borders are moved to be safe from rounding. */
        private static final double SLACK = 1.0 / 64;

        private static final int BEFORE_ALL = -1;
        private static final int BEHIND_ALL = BoxesLayout.STEPS + 1;

        /** What ends before this line is outside; so is what begins behind the next. */
        private int first;

        private int last;

        /** What begins at this line or behind it, and ends no later than at the next, is inside. */
        private int firstInside;

        private int lastInside;

        void set(double min, double max, double low, double high) {
            double scale = BoxesLayout.STEPS / (max - min);
            if (scale > 0 && scale < Double.POSITIVE_INFINITY) {
                double from = (low - min) * scale;
                double to = (high - min) * scale;
                first = (int) Math.ceil(from - SLACK);
                last = (int) Math.floor(to + SLACK);
                firstInside = (int) Math.ceil(from + SLACK);
                lastInside = (int) Math.floor(to - SLACK);
                return;
            }
            // a page as wide as nothing, or wider than the largest double: its groups are as it is
            boolean isInside = min >= low && max <= high;
            first = BEFORE_ALL;
            last = BEHIND_ALL;
            firstInside = isInside ? BEFORE_ALL : BEHIND_ALL;
            lastInside = isInside ? BEHIND_ALL : BEFORE_ALL;
        }

        boolean misses(int from, int to) {
            return to < first || from > last;
        }

        boolean holds(int from, int to) {
            return from >= firstInside && to <= lastInside;
        }
    }

    /** Moves to a page whose box meets the zone. */
    void set(int newPage) {
        if (newPage == page) {
            return;
        }
        page = newPage;
        firstGroup = boxes.firstGroup(newPage);
        boxes.levelBox(0, newPage, pageBox);
        Box window = zone.window();
        x.set(pageBox.minX(), pageBox.maxX(), window.minX(), window.maxX());
        y.set(pageBox.minY(), pageBox.maxY(), window.minY(), window.maxY());
    }

    /** How the box of a group of the page lies to the zone. */
    int relation(int group) {
        int steps = boxes.steps(firstGroup + group);
        int minX = steps & 0xFF;
        int minY = steps >>> 8 & 0xFF;
        int maxX = steps >>> 16 & 0xFF;
        int maxY = steps >>> 24;
        if (x.misses(minX, maxX) || y.misses(minY, maxY)) {
            return Zone.OUTSIDE;
        }
        if (!zone.isWindow()) {
            return boxes.groupRelation(page, group, zone);
        }
        return x.holds(minX, maxX) && y.holds(minY, maxY) ? Zone.INSIDE : Zone.CUT;
    }
}
