package io.turbidite.ops.expr;

import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import java.util.List;

/**
 * A point inside a window or a rectangle that meets it, borders included; never an absent field.
 */
final class WindowPredicate implements RecordPredicate {
    private final int field;
    private final boolean isRectangle;

    /** The window; on the sphere there may be two. */
    private final Rectangle[] parts;

    WindowPredicate(int field, TypeKind kind, List<Rectangle> parts) {
        this.field = field;
        this.isRectangle = kind == TypeKind.RECTANGLE;
        this.parts = parts.toArray(Rectangle[]::new);
    }

    @Override
    public boolean matches(RecordView record) {
        if (record.isAbsent(field)) {
            return false;
        }
        double minX = record.getCoordinate(field, 0);
        double minY = record.getCoordinate(field, 1);
        double maxX = isRectangle ? record.getCoordinate(field, 2) : minX;
        double maxY = isRectangle ? record.getCoordinate(field, 3) : minY;
        for (Rectangle part : parts) {
            if (minX <= part.maxX()
                    && maxX >= part.minX()
                    && minY <= part.maxY()
                    && maxY >= part.minY()) {
                return true;
            }
        }
        return false;
    }
}
