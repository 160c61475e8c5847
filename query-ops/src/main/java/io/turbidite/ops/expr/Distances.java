package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Place;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

/**
 * How far the points or rectangles of a field are from a place: what orders records, and which
 * records have a distance at all. <em>Confined to one thread.</em>
 */
public final class Distances implements OrderKey, RecordPredicate {
    private final int field;
    private final boolean isRectangle;
    private final Place place;
    private final Box value = new Box();

    /** Distances of a field, by its place in the type, from a place. */
    public Distances(RecordType type, int field, Place place) {
        this.field = field;
        this.isRectangle = type.field(field).kind() == TypeKind.RECTANGLE;
        this.place = place;
    }

    /** The distance of a record that has one. */
    public double of(RecordView record) {
        double minX = record.getCoordinate(field, 0);
        double minY = record.getCoordinate(field, 1);
        double maxX = isRectangle ? record.getCoordinate(field, 2) : minX;
        double maxY = isRectangle ? record.getCoordinate(field, 3) : minY;
        return place.distance(value.set(minX, minY, maxX, maxY));
    }

    /** Whether there is a value. */
    @Override
    public boolean matches(RecordView record) {
        return !record.isAbsent(field);
    }

    /** Eight bytes, in the order of distances, which are not negative. */
    @Override
    public void append(RecordView record, ByteSink sink) {
        sink.putLongBigEndian(Double.doubleToRawLongBits(of(record)));
    }
}
