package io.turbidite.ops.expr;

import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

/**
 * A point inside a window or a rectangle that meets it, borders included; never an absent field.
 */
final class WindowPredicate implements RecordPredicate {
    private final int field;
    private final boolean point;
    private final Rectangle window;

    WindowPredicate(int field, TypeKind kind, Rectangle window) {
        this.field = field;
        this.point = kind == TypeKind.POINT;
        this.window = window;
    }

    @Override
    public boolean matches(RecordView record) {
        if (record.isAbsent(field)) {
            return false;
        }
        double minX = record.getCoordinate(field, 0);
        double minY = record.getCoordinate(field, 1);
        double maxX = point ? minX : record.getCoordinate(field, 2);
        double maxY = point ? minY : record.getCoordinate(field, 3);
        return minX <= window.maxX()
                && maxX >= window.minX()
                && minY <= window.maxY()
                && maxY >= window.minY();
    }
}
