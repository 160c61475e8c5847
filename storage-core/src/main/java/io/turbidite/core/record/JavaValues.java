package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Makes Java objects of what a {@link RecordView} shows. Static, without state. */
final class JavaValues {
    private JavaValues() {}

    /** The value of a field that is there, or of an array's current element. */
    static Object of(RecordView view, int field, TypeKind kind) {
        return switch (kind) {
            // the sum of -0.0 and 0.0 is 0.0: one value, whichever was written
            case FLOAT -> (float) view.getDouble(field) + 0.0f;
            case DOUBLE -> view.getDouble(field) + 0.0;
            case STRING -> view.texts().read(view.utf8(field, view.scratch()));
            case BINARY -> view.getBytes(field, view.scratch()).toByteArray();
            case DECIMAL -> decimal(view, field);
            case UUID -> uuid(view.getBytes(field, view.scratch()));
            case POINT, LONLAT -> point(view, field);
            case RECTANGLE -> rectangle(view, field);
            case ARRAY -> elements(view, field);
            case RECORD -> nested(view, field);
            default -> KindValues.fromLong(kind, view.getLong(field));
        };
    }

    private static List<Object> elements(RecordView view, int array) {
        int each = view.type().eachOf(array);
        TypeKind kind = view.type().field(each).kind();
        List<Object> values = new ArrayList<>();
        for (boolean is = view.firstElement(each); is; is = view.nextElement(each)) {
            values.add(of(view, each, kind));
        }
        return values;
    }

    private static Map<String, @Nullable Object> nested(RecordView view, int field) {
        RecordType type = view.type();
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        for (int member = field + 1; member < type.behind(field); member = type.behind(member)) {
            if (!view.isMissing(member)) {
                values.put(type.memberName(member), view.get(member));
            }
        }
        OpenReader others = view.openFields(field);
        while (others.hasNext()) {
            others.field(values, 1);
        }
        return values;
    }

    private static UUID uuid(Slice bytes) {
        return new UUID(
                bytes.segment().get(Bytes.I64_BE, bytes.offset()),
                bytes.segment().get(Bytes.I64_BE, bytes.offset() + 8));
    }

    private static Object decimal(RecordView view, int field) {
        Slice bytes = view.getBytes(field, view.scratch());
        try {
            return DecimalBytes.decodeWithScale(bytes.segment(), bytes.offset(), bytes.length());
        } catch (IllegalArgumentException e) {
            throw RecordView.damaged(view.slot(field), "decimal", "well-formed", e.getMessage());
        }
    }

    private static Point point(RecordView view, int field) {
        try {
            return new Point(view.getCoordinate(field, 0), view.getCoordinate(field, 1));
        } catch (InvalidRequestException e) {
            throw RecordView.damaged(view.slot(field), "point", "finite", e.getMessage());
        }
    }

    private static Rectangle rectangle(RecordView view, int field) {
        try {
            return new Rectangle(
                    view.getCoordinate(field, 0),
                    view.getCoordinate(field, 1),
                    view.getCoordinate(field, 2),
                    view.getCoordinate(field, 3));
        } catch (InvalidRequestException e) {
            throw RecordView.damaged(
                    view.slot(field), "rectangle", "finite and ordered", e.getMessage());
        }
    }
}
