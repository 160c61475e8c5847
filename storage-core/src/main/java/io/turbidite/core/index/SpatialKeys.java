package io.turbidite.core.index;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.util.List;

/**
 * The entry keys of an R-tree on a point or a rectangle: one for each record that has a value, none
 * for others. <em>Immutable.</em>
 *
 * @param field the indexed field
 * @param fieldIndex its place in records
 * @param kind what is at the start of the keys
 * @param use who it is for, in messages: {@code "index by_place"}
 */
public record SpatialKeys(String field, int fieldIndex, SpatialKind kind, String use)
        implements EntryKeys {
    /**
     * The keys of an R-tree.
     *
     * @throws InvalidRequestException if there is not one field, declared, a point or a rectangle
     */
    public static SpatialKeys of(RecordType type, List<String> fields, String use) {
        if (fields.size() != 1) {
            throw new InvalidRequestException(
                    "%s: an rtree is on one field, not on %s".formatted(use, fields));
        }
        String field = fields.getFirst();
        int at = type.require(field, use);
        if (type.isEach(at)) {
            throw new InvalidRequestException(
                    "%s: an rtree is on one value of a record, not on the elements '%s' of an array"
                            .formatted(use, field));
        }
        TypeKind kind = type.field(at).kind();
        if (!kind.isSpatial()) {
            throw new InvalidRequestException(
                    "%s: an rtree is on a point or a rectangle; %s is of type %s"
                            .formatted(use, field, kind.label()));
        }
        SpatialKind spatial = kind.isPoint() ? SpatialKind.POINT : SpatialKind.RECTANGLE;
        return new SpatialKeys(field, at, spatial, use);
    }

    @Override
    public List<String> fields() {
        return List.of(field);
    }

    /** A record without a value has none. */
    @Override
    public boolean isMultiValued() {
        return true;
    }

    @Override
    public void append(RecordView record, Slice primaryKey, EntryKeyList keys) {
        if (record.isAbsent(fieldIndex)) {
            return;
        }
        ByteSink sink = keys.sink();
        int start = sink.length();
        boolean isPoint = kind == SpatialKind.POINT;
        double minX = record.getCoordinate(fieldIndex, 0);
        double minY = record.getCoordinate(fieldIndex, 1);
        double maxX = isPoint ? minX : record.getCoordinate(fieldIndex, 2);
        double maxY = isPoint ? minY : record.getCoordinate(fieldIndex, 3);
        kind.append(minX, minY, maxX, maxY, sink);
        int keyBytes = sink.putBytes(primaryKey).length() - start;
        if (keyBytes > Limits.KEY_BYTES_MAX) {
            keys.clear();
            throw Limits.keyTooLong(use, keyBytes);
        }
        keys.add(start);
    }

    @Override
    public boolean fitsAlways() {
        return true;
    }

    @Override
    public int secondaryBytes(Slice entryKey) {
        return kind.length(entryKey, 0);
    }

    @Override
    public EntryKeys renewed() {
        return this;
    }

    /** Whoever asks: the keys are the same. */
    @Override
    public boolean equals(Object other) {
        return other instanceof SpatialKeys keys
                && kind == keys.kind
                && fieldIndex == keys.fieldIndex
                && field.equals(keys.field);
    }

    @Override
    public int hashCode() {
        return field.hashCode() + kind.code();
    }
}
