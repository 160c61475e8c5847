package io.turbidite.lsm.component;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * For each filter field of the dataset, the smallest and largest value among the records of a
 * component and those that its anti-matter deletes (ALS15), so that a search can skip the
 * component. Of points and rectangles also the smallest box around all.
 *
 * <p><em>Immutable.</em> Values are encoded (D1). Whether a record has no value is noted: it
 * matches no window, and no range but one that holds the null marker. A field of which something
 * unknown came in never prunes.
 *
 * <pre>
 * bytes field, of a component of version 4
 *     1 field count
 *       for each field:
 *     1   flags          1 has values, 2 has absent ones, 4 has a box, 8 unknown: never prunes
 *   2+n   minimum        if it has values: length u16, bytes
 *   2+n   maximum
 *    32   box            if it has one: minX, minY, maxX, maxY, the bits of doubles
 * </pre>
 *
 * <p>Before version 4 there were flags 1 and 2 alone. 2 stood for unknown as well, so a field that
 * has it never prunes; and points were bounded in the order of x, then y: that bounds x alone.
 */
public final class ComponentFilter {
    /** The version of a component's format from which on there are boxes. */
    static final int VERSION_WITH_BOXES = 4;

    /** Of {@link #ruledOutBy}: the component may match. */
    public static final int NOT_RULED_OUT = -1;

    private static final ComponentFilter NONE = new ComponentFilter(List.of());

    private static final int SEEN = 1;
    private static final int ABSENT = 2;
    private static final int BOXED = 4;
    private static final int UNKNOWN = 8;

    /** Of the two forms of the null marker the longer: ranges that hold one hold it. */
    private static final Slice NULL_MARKER = Slice.of(new byte[2]);

    private final List<Bounds> fields;

    private ComponentFilter(List<Bounds> fields) {
        this.fields = List.copyOf(fields);
    }

    /** The filter of a dataset without filter fields: never prunes. */
    public static ComponentFilter none() {
        return NONE;
    }

    /** The filter of something unknown: never prunes. */
    static ComponentFilter unknown(int fieldCount) {
        List<Bounds> unknown = new ArrayList<>();
        for (int i = 0; i < fieldCount; i++) {
            unknown.add(new Bounds(null, null, null, true, true));
        }
        return unknown.isEmpty() ? NONE : new ComponentFilter(unknown);
    }

    /** The filter of nothing yet. */
    public static Builder builder(List<KeySpec> fields) {
        return new Builder(kinds(fields));
    }

    /** The filter of nothing yet, on fields that are neither points nor rectangles. */
    static Builder builder(int fieldCount) {
        return new Builder(new @Nullable SpatialKind[fieldCount]);
    }

    /** Of each filter field whether it has points or rectangles; null if neither. */
    public static @Nullable SpatialKind[] kinds(List<KeySpec> fields) {
        @Nullable SpatialKind[] kinds = new @Nullable SpatialKind[fields.size()];
        for (int i = 0; i < kinds.length; i++) {
            TypeKind kind = fields.get(i).kinds().getFirst();
            kinds[i] = kind.isPoint()
                    ? SpatialKind.POINT
                    : kind == TypeKind.RECTANGLE ? SpatialKind.RECTANGLE : null;
        }
        return kinds;
    }

    /** How many filter fields it has bounds of. */
    public int fieldCount() {
        return fields.size();
    }

    /** The smallest value of a field; null if no record has one. A copy. */
    public byte @Nullable [] min(int field) {
        Slice min = fields.get(field).min;
        return min == null ? null : min.toByteArray();
    }

    /** The largest value of a field; null if no record has one. A copy. */
    public byte @Nullable [] max(int field) {
        Slice max = fields.get(field).max;
        return max == null ? null : max.toByteArray();
    }

    /** What holds all points or rectangles of a field; null if that is not known. */
    public @Nullable Rectangle box(int field) {
        return fields.get(field).box;
    }

    /** Whether some record has no value of the field: null or missing; true if unknown. */
    public boolean hasAbsent(int field) {
        Bounds bounds = fields.get(field);
        return bounds.hasAbsent || bounds.isUnknown;
    }

    /**
     * Whether the filter is as wide as a value, so that no search misses it.
     *
     * @param encoded null if a record has none
     */
    public boolean holds(int field, @Nullable SpatialKind kind, @Nullable Slice encoded) {
        return fields.get(field).holds(kind, encoded);
    }

    /**
     * Whether the component may hold a record, or a delete of a record, inside the predicate. True
     * where predicate or filter know nothing of a field.
     */
    public boolean mayMatch(FilterPredicate predicate) {
        return ruledOutBy(predicate) == NOT_RULED_OUT;
    }

    /**
     * The first filter field by which the component can't hold a record, or a delete of a record,
     * inside the predicate; {@link #NOT_RULED_OUT} if it may.
     */
    public int ruledOutBy(FilterPredicate predicate) {
        int known = Math.min(fields.size(), predicate.ranges().size());
        for (int i = 0; i < known; i++) {
            KeyRange range = predicate.ranges().get(i);
            if (!range.isAll() && !fields.get(i).mayMatch(range)) {
                return i;
            }
        }
        for (int i = 0; i < predicate.windows().size(); i++) {
            FilterPredicate.Window window = predicate.windows().get(i);
            if (window.field() < fields.size() && !fields.get(window.field()).mayMatch(window)) {
                return window.field();
            }
        }
        return NOT_RULED_OUT;
    }

    /**
     * Whether a range may hold one of the values between two bounds, or the null marker where there
     * are records without a value.
     *
     * @param min null if there are no values; so is {@code max}
     */
    public static boolean mayMatch(
            KeyRange range, boolean hasAbsent, @Nullable Slice min, @Nullable Slice max) {
        return (hasAbsent && range.contains(NULL_MARKER))
                || (min != null && max != null && range.overlaps(min, max));
    }

    /**
     * Whether a value between two bounds may be in a window, by the first coordinate alone: they
     * are ordered by it. Of rectangles it is their left side.
     */
    public static boolean mayMatch(FilterPredicate.Window window, Slice min, Slice max) {
        Rectangle bounds = window.bounds();
        boolean isRight = KeyCodec.coordinate(min, 0) > bounds.maxX();
        boolean isLeft =
                window.kind() == SpatialKind.POINT && KeyCodec.coordinate(max, 0) < bounds.minX();
        return !isRight && !isLeft;
    }

    /** The filter of two components' merge. */
    public static ComponentFilter union(ComponentFilter a, ComponentFilter b) {
        if (a.fields.size() != b.fields.size()) {
            throw new IllegalArgumentException(
                    "filters of %d and %d fields".formatted(a.fields.size(), b.fields.size()));
        }
        List<Bounds> fields = new ArrayList<>(a.fields.size());
        for (int i = 0; i < a.fields.size(); i++) {
            fields.add(Bounds.union(a.fields.get(i), b.fields.get(i)));
        }
        return fields.isEmpty() ? NONE : new ComponentFilter(fields);
    }

    /** Appends it in the form above. */
    void encode(ByteSink sink) {
        sink.putByte(fields.size());
        for (Bounds bounds : fields) {
            Rectangle box = bounds.box;
            sink.putByte((bounds.min == null ? 0 : SEEN)
                    | (bounds.hasAbsent ? ABSENT : 0)
                    | (box == null ? 0 : BOXED)
                    | (bounds.isUnknown ? UNKNOWN : 0));
            if (bounds.min != null && bounds.max != null) {
                putShortBytes(sink, bounds.min);
                putShortBytes(sink, bounds.max);
            }
            if (box != null) {
                putDouble(sink, box.minX());
                putDouble(sink, box.minY());
                putDouble(sink, box.maxX());
                putDouble(sink, box.maxY());
            }
        }
    }

    /**
     * Decodes and checks it.
     *
     * @param version of the component's format
     */
    static ComponentFilter decode(MetaReader reader, int version) {
        int flagsMax =
                version >= VERSION_WITH_BOXES ? SEEN | ABSENT | BOXED | UNKNOWN : SEEN | ABSENT;
        int fieldCount = reader.u8("filter field count");
        List<Bounds> fields = new ArrayList<>(fieldCount);
        for (int i = 0; i < fieldCount; i++) {
            int flags = reader.u8("filter flags");
            reader.require(flags <= flagsMax, "filter flags", "0 to " + flagsMax, flags);
            boolean seen = (flags & SEEN) != 0;
            Slice min = seen ? reader.shortBytes("filter minimum") : null;
            Slice max = seen ? reader.shortBytes("filter maximum") : null;
            boolean boxed = (flags & BOXED) != 0;
            reader.require(seen || !boxed, "filter flags", "values inside the box", flags);
            Rectangle box = boxed ? decodeBox(reader) : null;
            boolean hasAbsent = (flags & ABSENT) != 0;
            boolean isUnknown = version < VERSION_WITH_BOXES ? hasAbsent : (flags & UNKNOWN) != 0;
            fields.add(new Bounds(min, max, box, hasAbsent, isUnknown));
        }
        return new ComponentFilter(fields);
    }

    private static Rectangle decodeBox(MetaReader reader) {
        double minX = Double.longBitsToDouble(reader.i64("filter box"));
        double minY = Double.longBitsToDouble(reader.i64("filter box"));
        double maxX = Double.longBitsToDouble(reader.i64("filter box"));
        double maxY = Double.longBitsToDouble(reader.i64("filter box"));
        reader.require(
                isBox(minX, minY, maxX, maxY),
                "filter box",
                "finite, minima first",
                Double.doubleToLongBits(minX));
        return new Rectangle(minX, minY, maxX, maxY);
    }

    private static void putDouble(ByteSink sink, double value) {
        sink.putLong(Double.doubleToLongBits(value));
    }

    private static void putShortBytes(ByteSink sink, Slice bytes) {
        sink.putByte(bytes.length() & 0xFF).putByte(bytes.length() >>> 8).putBytes(bytes);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ComponentFilter filter && fields.equals(filter.fields);
    }

    @Override
    public int hashCode() {
        return fields.hashCode();
    }

    @Override
    public String toString() {
        return "ComponentFilter" + fields;
    }

    /**
     * Grows a box around an encoded point or rectangle. Makes no garbage.
     *
     * @param encoded not the null marker; the bytes of a record may be a caller's own, so what is
     *     not finite, which no record writer writes, makes the box infinite
     */
    public static void grow(Box box, SpatialKind kind, Slice encoded) {
        double minX = KeyCodec.coordinate(encoded, 0);
        double minY = KeyCodec.coordinate(encoded, 1);
        boolean isPoint = kind == SpatialKind.POINT;
        double maxX = isPoint ? minX : KeyCodec.coordinate(encoded, 2);
        double maxY = isPoint ? minY : KeyCodec.coordinate(encoded, 3);
        if (!isFinite(minX, minY, maxX, maxY)) {
            box.set(
                    Double.NEGATIVE_INFINITY,
                    Double.NEGATIVE_INFINITY,
                    Double.POSITIVE_INFINITY,
                    Double.POSITIVE_INFINITY);
            return;
        }
        box.set(
                Math.min(box.minX(), minX),
                Math.min(box.minY(), minY),
                Math.max(box.maxX(), maxX),
                Math.max(box.maxY(), maxY));
    }

    private static boolean isFinite(double minX, double minY, double maxX, double maxY) {
        return Double.isFinite(minX)
                && Double.isFinite(minY)
                && Double.isFinite(maxX)
                && Double.isFinite(maxY);
    }

    private static boolean isBox(double minX, double minY, double maxX, double maxY) {
        return isFinite(minX, minY, maxX, maxY) && minX <= maxX && minY <= maxY;
    }

    /** Collects a filter. <em>Confined to one thread at a time.</em> */
    public static final class Builder {
        /** Longest value kept; its length is stored in two bytes. */
        private static final int VALUE_BYTES_MAX = 0xFFFF;

        private static final int FIELD_COUNT_MAX = 255;

        private final @Nullable SpatialKind[] kinds;
        private final @Nullable Slice[] mins;
        private final @Nullable Slice[] maxs;
        private final Box[] boxes;
        private final boolean[] absent;
        private final boolean[] unknown;

        private Builder(@Nullable SpatialKind[] kinds) {
            int fieldCount = kinds.length;
            if (fieldCount > FIELD_COUNT_MAX) {
                throw new IllegalArgumentException(fieldCount + " filter fields");
            }
            this.kinds = kinds.clone();
            mins = new @Nullable Slice[fieldCount];
            maxs = new @Nullable Slice[fieldCount];
            boxes = new Box[fieldCount];
            java.util.Arrays.setAll(boxes, _ -> new Box());
            absent = new boolean[fieldCount];
            unknown = new boolean[fieldCount];
        }

        /** A record has this encoded value; it is copied if it widens the filter. */
        public Builder add(int field, Slice encoded) {
            if (encoded.length() > VALUE_BYTES_MAX) {
                throw new IllegalArgumentException("filter value of " + encoded.length());
            }
            Slice min = mins[field];
            Slice max = maxs[field];
            if (min == null || encoded.compareBytes(min) < 0) {
                mins[field] = Slice.of(encoded.toByteArray());
            }
            if (max == null || encoded.compareBytes(max) > 0) {
                maxs[field] = Slice.of(encoded.toByteArray());
            }
            SpatialKind kind = kinds[field];
            if (kind != null) {
                grow(boxes[field], kind, encoded);
            }
            return this;
        }

        /** All points or rectangles of this field, whose bounds were added, are inside. */
        public Builder addBox(int field, Box box) {
            boxes[field].add(box);
            return this;
        }

        /** A record has no value of this field. */
        public Builder addAbsent(int field) {
            absent[field] = true;
            return this;
        }

        /** Something unknown came in: the field never prunes. */
        public Builder addUnknown(int field) {
            unknown[field] = true;
            return this;
        }

        /** The bounds of all that was added. */
        public ComponentFilter build() {
            List<Bounds> fields = new ArrayList<>(mins.length);
            for (int i = 0; i < mins.length; i++) {
                Box box = boxes[i];
                Rectangle all = isBox(box.minX(), box.minY(), box.maxX(), box.maxY())
                        ? new Rectangle(box.minX(), box.minY(), box.maxX(), box.maxY())
                        : null;
                fields.add(new Bounds(mins[i], maxs[i], all, absent[i], unknown[i]));
            }
            return fields.isEmpty() ? NONE : new ComponentFilter(fields);
        }
    }

    /** One field; both bounds or neither. The slices are private copies that nobody moves. */
    private static final class Bounds {
        final @Nullable Slice min;
        final @Nullable Slice max;

        /** Around all values; null of other types, and where old filters did not know it. */
        final @Nullable Rectangle box;

        final boolean hasAbsent;
        final boolean isUnknown;

        Bounds(
                @Nullable Slice min,
                @Nullable Slice max,
                @Nullable Rectangle box,
                boolean hasAbsent,
                boolean isUnknown) {
            this.min = min;
            this.max = max;
            this.box = box;
            this.hasAbsent = hasAbsent;
            this.isUnknown = isUnknown;
        }

        static Bounds union(Bounds a, Bounds b) {
            boolean hasAbsent = a.hasAbsent || b.hasAbsent;
            boolean isUnknown = a.isUnknown || b.isUnknown;
            if (a.min == null || a.max == null || b.min == null || b.max == null) {
                Bounds values = a.min == null ? b : a;
                return new Bounds(values.min, values.max, values.box, hasAbsent, isUnknown);
            }
            Rectangle box = a.box == null || b.box == null
                    ? null
                    : new Rectangle(
                            Math.min(a.box.minX(), b.box.minX()),
                            Math.min(a.box.minY(), b.box.minY()),
                            Math.max(a.box.maxX(), b.box.maxX()),
                            Math.max(a.box.maxY(), b.box.maxY()));
            return new Bounds(
                    a.min.compareBytes(b.min) <= 0 ? a.min : b.min,
                    a.max.compareBytes(b.max) >= 0 ? a.max : b.max,
                    box,
                    hasAbsent,
                    isUnknown);
        }

        boolean holds(@Nullable SpatialKind kind, @Nullable Slice encoded) {
            if (isUnknown) {
                return true;
            }
            if (encoded == null) {
                return hasAbsent;
            }
            if (min == null
                    || max == null
                    || encoded.compareBytes(min) < 0
                    || encoded.compareBytes(max) > 0) {
                return false;
            }
            if (box == null || kind == null) {
                return true;
            }
            Box value = new Box();
            grow(value, kind, encoded);
            return new Box().set(box).contains(value);
        }

        boolean mayMatch(KeyRange range) {
            return isUnknown || ComponentFilter.mayMatch(range, hasAbsent, min, max);
        }

        boolean mayMatch(FilterPredicate.Window window) {
            if (isUnknown) {
                return true;
            }
            if (min == null || max == null) {
                return false;
            }
            Rectangle wanted = window.bounds();
            return box == null
                    ? ComponentFilter.mayMatch(window, min, max)
                    : box.minX() <= wanted.maxX()
                            && wanted.minX() <= box.maxX()
                            && box.minY() <= wanted.maxY()
                            && wanted.minY() <= box.maxY();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Bounds bounds
                    && hasAbsent == bounds.hasAbsent
                    && isUnknown == bounds.isUnknown
                    && Objects.equals(box, bounds.box)
                    && same(min, bounds.min)
                    && same(max, bounds.max);
        }

        @Override
        public int hashCode() {
            return Objects.hash(hasAbsent, isUnknown, box, min == null ? 0 : min.length());
        }

        private static boolean same(@Nullable Slice a, @Nullable Slice b) {
            return a == null ? b == null : b != null && a.contentEquals(b);
        }

        @Override
        public String toString() {
            return min
                    + ".."
                    + max
                    + (box == null ? "" : " in " + box)
                    + (hasAbsent ? " and absent" : "")
                    + (isUnknown ? " and unknown" : "");
        }
    }
}
