package io.turbidite.lsm.component;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * For each filter field of the dataset, the smallest and largest value among the records of a
 * component and those that its anti-matter deletes (ALS15), so that a search can skip the
 * component.
 *
 * <p><em>Immutable.</em> Values are encoded (D1). A record without a value of some field has no
 * place in the order a predicate asks for, but a predicate on null or missing would want it: a
 * field with such records never prunes.
 */
public final class ComponentFilter {
    private static final ComponentFilter NONE = new ComponentFilter(List.of());

    private static final int SEEN = 1;
    private static final int ABSENT = 2;

    private final List<Bounds> fields;

    private ComponentFilter(List<Bounds> fields) {
        this.fields = List.copyOf(fields);
    }

    /** The filter of a dataset without filter fields: never prunes. */
    public static ComponentFilter none() {
        return NONE;
    }

    /** The filter of nothing yet. */
    public static Builder builder(int fieldCount) {
        return new Builder(fieldCount);
    }

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

    /** Whether some record has no value of the field: null or missing. */
    public boolean hasAbsent(int field) {
        return fields.get(field).hasAbsent;
    }

    /**
     * Whether the component may hold a record, or a delete of a record, inside the predicate. True
     * where predicate or filter know nothing of a field.
     */
    public boolean mayMatch(FilterPredicate predicate) {
        int known = Math.min(fields.size(), predicate.ranges().size());
        for (int i = 0; i < known; i++) {
            KeyRange range = predicate.ranges().get(i);
            if (!range.isAll() && !fields.get(i).mayMatch(range)) {
                return false;
            }
        }
        return true;
    }

    /** The filter of two components' merge. */
    public static ComponentFilter union(ComponentFilter a, ComponentFilter b) {
        if (a.fields.size() != b.fields.size()) {
            throw new IllegalArgumentException(
                    "filters of %d and %d fields".formatted(a.fields.size(), b.fields.size()));
        }
        return new Builder(a.fields.size()).add(a).add(b).build();
    }

    /**
     * Appends: field count u8; for each field flags u8 (1 has values, 2 has absent ones) and, if it
     * has values, both bounds, each length u16 and bytes.
     */
    void encode(ByteSink sink) {
        sink.putByte(fields.size());
        for (Bounds bounds : fields) {
            sink.putByte((bounds.min == null ? 0 : SEEN) | (bounds.hasAbsent ? ABSENT : 0));
            if (bounds.min != null && bounds.max != null) {
                putShortBytes(sink, bounds.min);
                putShortBytes(sink, bounds.max);
            }
        }
    }

    static ComponentFilter decode(MetaReader reader) {
        int fieldCount = reader.u8("filter field count");
        List<Bounds> fields = new ArrayList<>(fieldCount);
        for (int i = 0; i < fieldCount; i++) {
            int flags = reader.u8("filter flags");
            reader.require(flags <= (SEEN | ABSENT), "filter flags", "0 to 3", flags);
            boolean seen = (flags & SEEN) != 0;
            Slice min = seen ? reader.shortBytes("filter minimum") : null;
            Slice max = seen ? reader.shortBytes("filter maximum") : null;
            fields.add(new Bounds(min, max, (flags & ABSENT) != 0));
        }
        return new ComponentFilter(fields);
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

    /** Collects a filter. <em>Confined to one thread at a time.</em> */
    public static final class Builder {
        /** Longest value kept; its length is stored in two bytes. */
        private static final int VALUE_BYTES_MAX = 0xFFFF;

        private static final int FIELD_COUNT_MAX = 255;

        private final @Nullable Slice[] mins;
        private final @Nullable Slice[] maxs;
        private final boolean[] absent;

        private Builder(int fieldCount) {
            if (fieldCount < 0 || fieldCount > FIELD_COUNT_MAX) {
                throw new IllegalArgumentException(fieldCount + " filter fields");
            }
            mins = new @Nullable Slice[fieldCount];
            maxs = new @Nullable Slice[fieldCount];
            absent = new boolean[fieldCount];
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
            return this;
        }

        /** A record has no value of this field. */
        public Builder addAbsent(int field) {
            absent[field] = true;
            return this;
        }

        /** Widens by everything another filter covers. */
        public Builder add(ComponentFilter other) {
            for (int i = 0; i < mins.length; i++) {
                Bounds bounds = other.fields.get(i);
                if (bounds.min != null && bounds.max != null) {
                    add(i, bounds.min);
                    add(i, bounds.max);
                }
                absent[i] |= bounds.hasAbsent;
            }
            return this;
        }

        public ComponentFilter build() {
            List<Bounds> fields = new ArrayList<>(mins.length);
            for (int i = 0; i < mins.length; i++) {
                fields.add(new Bounds(mins[i], maxs[i], absent[i]));
            }
            return fields.isEmpty() ? NONE : new ComponentFilter(fields);
        }
    }

    /** One field; both bounds or neither. The slices are private copies that nobody moves. */
    private static final class Bounds {
        final @Nullable Slice min;
        final @Nullable Slice max;
        final boolean hasAbsent;

        Bounds(@Nullable Slice min, @Nullable Slice max, boolean hasAbsent) {
            this.min = min;
            this.max = max;
            this.hasAbsent = hasAbsent;
        }

        boolean mayMatch(KeyRange range) {
            return hasAbsent || (min != null && max != null && range.overlaps(min, max));
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Bounds bounds
                    && hasAbsent == bounds.hasAbsent
                    && same(min, bounds.min)
                    && same(max, bounds.max);
        }

        @Override
        public int hashCode() {
            return Objects.hash(hasAbsent, min == null ? 0 : min.length());
        }

        private static boolean same(@Nullable Slice a, @Nullable Slice b) {
            return a == null ? b == null : b != null && a.contentEquals(b);
        }

        @Override
        public String toString() {
            return min + ".." + max + (hasAbsent ? " and absent" : "");
        }
    }
}
