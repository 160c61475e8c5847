package io.turbidite.lsm.rtree;

import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Zone;

/**
 * A zone as the groups of one page see it: where its borders lie among the lines that a group's box
 * is made of. So four small integers are compared for each group, and no coordinate is computed.
 * <em>Confined to one thread;</em> moves from page to page.
 */
final class PageWindow {
    /** The numbers of a group's box are compared at once, each in so many bits of a long. */
    private static final int LANE_BITS = 16;

    private static final int LANE_TOP = 0x8000;
    private static final long LANE_TOPS = 0x8000_8000_8000_8000L;

    /** 255 in the lanes of the two smaller coordinates, and of the two larger ones. */
    private static final long FIRST_LANES = 0x0000_0000_00FF_00FFL;

    private static final long LAST_LANES = 0x00FF_00FF_0000_0000L;

    private final Boxes boxes;
    private final Zone zone;
    private final Box pageBox = new Box();
    private final Side x = new Side();
    private final Side y = new Side();
    private int page = -1;
    private int firstGroup;

    /** What makes of a group's numbers some that are at least {@link #LANE_TOP} if it meets. */
    private long meeting;

    /** Likewise if it is inside. */
    private long inside;

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
                first = line(Math.ceil(from - SLACK));
                last = line(Math.floor(to + SLACK));
                firstInside = line(Math.ceil(from + SLACK));
                lastInside = line(Math.floor(to - SLACK));
                return;
            }
            // a page as wide as nothing, or wider than the largest double: its groups are as it is
            boolean isInside = min >= low && max <= high;
            first = BEFORE_ALL;
            last = BEHIND_ALL;
            firstInside = isInside ? BEFORE_ALL : BEHIND_ALL;
            lastInside = isInside ? BEHIND_ALL : BEFORE_ALL;
        }

        private static int line(double line) {
            return Math.clamp((int) line, BEFORE_ALL, BEHIND_ALL);
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
        meeting =
                lanes(LANE_TOP - BoxesLayout.STEPS + x.last, LANE_TOP - BoxesLayout.STEPS + y.last)
                        | (lanes(LANE_TOP - x.first, LANE_TOP - y.first) << Integer.SIZE);
        inside = lanes(LANE_TOP - x.firstInside, LANE_TOP - y.firstInside)
                | (lanes(
                                LANE_TOP - BoxesLayout.STEPS + x.lastInside,
                                LANE_TOP - BoxesLayout.STEPS + y.lastInside)
                        << Integer.SIZE);
    }

    private static long lanes(int low, int high) {
        return low | ((long) high << LANE_BITS);
    }

    /**
     * The first group from {@code group} on that meets the window around the zone; {@code end} if
     * none does.
     */
    int next(int group, int end) {
        int at = group;
        // what is at most a border is counted from the other end, so that it is at least one too
        while (at < end && (((spread(at) ^ FIRST_LANES) + meeting) & LANE_TOPS) != LANE_TOPS) {
            at++;
        }
        return at;
    }

    /** The four numbers of a group's box, each in a lane that has room for a sum. */
    private long spread(int group) {
        long steps = boxes.steps(firstGroup + group) & 0xFFFF_FFFFL;
        long halves = (steps | (steps << LANE_BITS)) & 0x0000_FFFF_0000_FFFFL;
        return (halves | (halves << Byte.SIZE)) & 0x00FF_00FF_00FF_00FFL;
    }

    /** How the box of a group of the page lies to the zone. */
    int relation(int group) {
        if (next(group, group + 1) > group) {
            return Zone.OUTSIDE;
        }
        if (!zone.isWindow()) {
            return boxes.groupRelation(page, group, zone);
        }
        long within = (spread(group) ^ LAST_LANES) + inside;
        return (within & LANE_TOPS) == LANE_TOPS ? Zone.INSIDE : Zone.CUT;
    }
}
