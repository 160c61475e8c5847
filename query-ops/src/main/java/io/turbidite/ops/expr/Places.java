package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.LonLat;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Where points and rectangles must be: the windows and circles among predicates.
 * <em>Immutable.</em>
 *
 * @param predicates that fit the type
 */
public record Places(RecordType type, List<Predicate> predicates) {
    /**
     * What all windows on a field have in common; null without windows, or where that is nothing.
     */
    public @Nullable Rectangle window(String field) {
        Rectangle common = null;
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Within(String name, Rectangle window)
                    && name.equals(field)) {
                double minX =
                        common == null ? window.minX() : Math.max(common.minX(), window.minX());
                double minY =
                        common == null ? window.minY() : Math.max(common.minY(), window.minY());
                double maxX =
                        common == null ? window.maxX() : Math.min(common.maxX(), window.maxX());
                double maxY =
                        common == null ? window.maxY() : Math.min(common.maxY(), window.maxY());
                if (minX > maxX || minY > maxY) {
                    return null;
                }
                common = new Rectangle(minX, minY, maxX, maxY);
            }
        }
        return common;
    }

    static void check(Predicate predicate, TypeKind kind) {
        try {
            if (predicate instanceof Predicate.Distance distance) {
                var _ = circle(distance, kind);
            } else {
                var _ = parts(predicate, kind);
            }
        } catch (InvalidRequestException e) {
            throw FieldRange.wrong(predicate, String.valueOf(e.getMessage()));
        }
    }

    /** What a window is: two where it crosses the antimeridian, with no place in common. */
    static List<Rectangle> parts(Predicate predicate, TypeKind kind) {
        return switch (predicate) {
            case Predicate.Within(var _, Rectangle window) ->
                kind == TypeKind.LONLAT
                        ? LonLat.windows(window.minX(), window.minY(), window.maxX(), window.maxY())
                        : List.of(window);
            case Predicate.Across(var _, double minX, double minY, double maxX, double maxY) ->
                kind == TypeKind.LONLAT
                        ? LonLat.windows(minX, minY, maxX, maxY)
                        // throws: on the plane it is none
                        : List.of(new Rectangle(minX, minY, maxX, maxY));
            default -> throw new IllegalArgumentException(predicate.toString());
        };
    }

    /** Of each window on a field of the sphere its parts, which have no place in common. */
    public List<List<Rectangle>> sphericWindows(String field) {
        List<List<Rectangle>> windows = new ArrayList<>(0);
        for (Predicate predicate : predicates) {
            if (predicate.field().equals(field) && isWindow(predicate)) {
                windows.add(parts(predicate, TypeKind.LONLAT));
            }
        }
        return windows;
    }

    private static boolean isWindow(Predicate predicate) {
        return predicate instanceof Predicate.Within || predicate instanceof Predicate.Across;
    }

    /** The lower left of the windows on a field; null without windows. */
    public @Nullable Point corner(String field) {
        Rectangle common = window(field);
        if (common != null) {
            return new Point(common.minX(), common.minY());
        }
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Across across && across.field().equals(field)) {
                return new Point(across.minX(), across.minY());
            }
        }
        return null;
    }

    /** One of the windows on a field; null if there is none. */
    public @Nullable Rectangle anyWindow(String field) {
        List<Rectangle> windows = windows(field);
        return windows.isEmpty() ? null : windows.getFirst();
    }

    /** All windows on a field. */
    public List<Rectangle> windows(String field) {
        List<Rectangle> windows = new ArrayList<>();
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Within(String name, Rectangle window)
                    && name.equals(field)) {
                windows.add(window);
            }
        }
        return windows;
    }

    /** The circles on a field. */
    public List<Circle> circles(String field) {
        List<Circle> circles = new ArrayList<>(0);
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Distance distance
                    && distance.field().equals(field)) {
                circles.add(circle(distance));
            }
        }
        return circles;
    }

    private Circle circle(Predicate.Distance distance) {
        return circle(distance, type.field(type.indexOf(distance.field())).kind());
    }

    static Circle circle(Predicate.Distance distance, TypeKind kind) {
        return new Circle(Metric.of(kind), distance.x(), distance.y(), distance.radius());
    }

    /**
     * Whether there are windows on some field that have nothing in common: no point is in them. Of
     * an array each may have a point of its own.
     */
    public boolean areDisjoint() {
        for (Predicate predicate : predicates) {
            if (predicate instanceof Predicate.Within(String field, var _)
                    && !field.endsWith(RecordType.EACH)
                    && type.field(type.indexOf(field)).kind() == TypeKind.POINT
                    && window(field) == null) {
                return true;
            }
        }
        return false;
    }

    /** Whether all predicates are windows on this field. */
    boolean areOnlyOn(String field) {
        for (Predicate predicate : predicates) {
            if (!(predicate instanceof Predicate.Within) || !predicate.field().equals(field)) {
                return false;
            }
        }
        return true;
    }
}
