package io.turbidite.ops.expr;

import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.TypeKind;

/**
 * A point or rectangle within a distance of a place, and just so far; never an absent field.
 * <em>Confined to one thread.</em>
 */
final class DistancePredicate implements RecordPredicate {
    private final int field;
    private final boolean isRectangle;
    private final Circle circle;
    private final Box value = new Box();

    DistancePredicate(int field, TypeKind kind, Circle circle) {
        this.field = field;
        this.isRectangle = kind == TypeKind.RECTANGLE;
        this.circle = circle;
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
        return circle.holds(value.set(minX, minY, maxX, maxY));
    }
}
