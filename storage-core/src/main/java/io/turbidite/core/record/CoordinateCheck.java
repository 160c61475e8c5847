package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import java.util.stream.IntStream;

/**
 * Refuses records whose declared points and rectangles are none. A record writer never writes one,
 * but bytes that somebody hands over as a record may say so: then no index would have an entry for
 * it, and a scan would find it where an index does not. <em>Immutable.</em>
 */
public final class CoordinateCheck {
    private final RecordType type;
    private final int[] fields;

    private CoordinateCheck(RecordType type, int[] fields) {
        this.type = type;
        this.fields = fields;
    }

    /**
     * The check of records of a type. Elements of arrays are not looked at: no index is on them.
     */
    public static CoordinateCheck of(RecordType type) {
        return new CoordinateCheck(
                type,
                IntStream.range(0, type.fields().size())
                        .filter(field -> type.field(field).kind().isSpatial())
                        .toArray());
    }

    /** Whether there is anything to look at. */
    public boolean isNeeded() {
        return fields.length > 0;
    }

    /**
     * Checks a record.
     *
     * @throws InvalidRequestException naming the field
     */
    public void run(RecordView record) {
        for (int field : fields) {
            if (!record.isAbsent(field) && !isSound(record, field)) {
                throw wrong(record, field);
            }
        }
    }

    private boolean isSound(RecordView record, int field) {
        double x = record.getCoordinate(field, 0);
        double y = record.getCoordinate(field, 1);
        return switch (type.field(field).kind()) {
            case LONLAT -> Math.abs(x) <= 180 && Math.abs(y) <= 90;
            case RECTANGLE -> {
                double maxX = record.getCoordinate(field, 2);
                double maxY = record.getCoordinate(field, 3);
                yield x <= maxX && y <= maxY && isFinite(x, y) && isFinite(maxX, maxY);
            }
            default -> isFinite(x, y);
        };
    }

    private static boolean isFinite(double x, double y) {
        return Double.isFinite(x) && Double.isFinite(y);
    }

    /** With the words of the value's own class. */
    private InvalidRequestException wrong(RecordView record, int field) {
        double x = record.getCoordinate(field, 0);
        double y = record.getCoordinate(field, 1);
        try {
            if (type.field(field).kind() == TypeKind.RECTANGLE) {
                var _ = new Rectangle(
                        x, y, record.getCoordinate(field, 2), record.getCoordinate(field, 3));
            } else {
                var _ = new Point(x, y);
                Point.requireLonLat(x, y);
            }
        } catch (InvalidRequestException why) {
            return new InvalidRequestException(
                    "field '%s': %s".formatted(type.field(field).name(), why.getMessage()), why);
        }
        throw new IllegalStateException(
                "field '%s' is sound".formatted(type.field(field).name()));
    }
}
