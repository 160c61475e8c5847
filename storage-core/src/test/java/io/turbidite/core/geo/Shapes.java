package io.turbidite.core.geo;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Rectangle;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Points and rectangles of all sorts, and their keys in order. */
final class Shapes {
    private static final double[] BORDERS = {
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        512,
        -512,
        Math.nextDown(512.0),
        8_192,
        131_072,
        180,
        -180,
        90,
        Double.MIN_VALUE,
        -Double.MIN_VALUE,
        Double.MIN_NORMAL,
        Double.MAX_VALUE,
        -Double.MAX_VALUE,
        Math.scalb(1.0, -22),
        Math.nextDown(Math.scalb(1.0, -22)),
        Math.scalb(1.0, 1_020),
        0.1,
        51.5
    };

    private final SplittableRandom random;

    Shapes(SplittableRandom random) {
        this.random = random;
    }

    /** How coordinates lie. */
    enum Spread {
        DEGREES,
        CLUSTERED,
        DENORMAL,
        BORDER,
        HUGE,
        ANY
    }

    double coordinate(Spread spread) {
        return switch (spread) {
            case DEGREES -> random.nextDouble(-180, 180);
            case CLUSTERED -> {
                double centre = random.nextInt(-8, 8) * 21.7;
                yield centre + random.nextDouble(-1, 1) * random.nextDouble();
            }
            case DENORMAL -> random.nextLong(-1_000, 1_000) * Double.MIN_VALUE;
            case BORDER -> BORDERS[random.nextInt(BORDERS.length)];
            case HUGE -> random.nextDouble(-1, 1) * Double.MAX_VALUE;
            case ANY -> {
                double value = Double.longBitsToDouble(random.nextLong());
                yield Double.isFinite(value) ? value : 1;
            }
        };
    }

    /** As large as the spread's coordinates, or not at all, or anything between. */
    Rectangle rectangle(Spread spread) {
        double x = coordinate(spread);
        double y = coordinate(spread);
        double share = Math.scalb(1.0, -random.nextInt(40));
        double x2 = random.nextInt(8) == 0 ? x : x + (coordinate(spread) / 2 - x / 2) * share;
        double y2 = random.nextInt(8) == 0 ? y : y + (coordinate(spread) / 2 - y / 2) * share;
        return new Rectangle(Math.min(x, x2), Math.min(y, y2), Math.max(x, x2), Math.max(y, y2));
    }

    Rectangle shape(SpatialKind kind, Spread spread) {
        if (kind == SpatialKind.RECTANGLE) {
            return rectangle(spread);
        }
        double x = coordinate(spread);
        double y = coordinate(spread);
        return new Rectangle(x, y, x, y);
    }

    List<Rectangle> shapes(SpatialKind kind, Spread spread, int count) {
        List<Rectangle> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(shape(kind, spread));
        }
        return all;
    }

    static byte[] key(SpatialKind kind, Rectangle shape) {
        ByteSink sink = new ByteSink(64, 1_000);
        kind.append(shape.minX(), shape.minY(), shape.maxX(), shape.maxY(), sink);
        return sink.asSlice(new Slice()).toByteArray();
    }

    static boolean intersect(Rectangle a, Rectangle b) {
        return a.minX() <= b.maxX()
                && b.minX() <= a.maxX()
                && a.minY() <= b.maxY()
                && b.minY() <= a.maxY();
    }
}
