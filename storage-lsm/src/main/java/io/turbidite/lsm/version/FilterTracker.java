package io.turbidite.lsm.version;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.component.ComponentFilter;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * The filter of a memory layer: per filter field the smallest and largest encoded value put in so
 * far, and of points and rectangles the box around them, widened in place, so that an increasing
 * field costs no garbage. To ask it costs none either.
 *
 * <p><em>Thread-safe</em> by its monitor, held for two comparisons. Widened before the operation
 * completes, so whoever reads the watermark first and the filter second misses nothing.
 */
final class FilterTracker {
    private final List<KeySpec> fields;
    private final @Nullable SpatialKind[] kinds;
    private final MemorySegment values;
    private final int[] minLength;
    private final int[] maxLength;
    private final boolean[] seen;
    private final boolean[] absent;
    private final boolean[] unknown;
    private final Box[] boxes;
    private final Slice low = new Slice();
    private final Slice high = new Slice();
    private final Box wanted = new Box();

    FilterTracker(List<KeySpec> fields) {
        int fieldCount = fields.size();
        this.fields = fields;
        this.kinds = ComponentFilter.kinds(fields);
        this.values = NativeMemory.unowned(2L * Limits.KEY_BYTES_MAX * Math.max(1, fieldCount), 1);
        this.minLength = new int[fieldCount];
        this.maxLength = new int[fieldCount];
        this.seen = new boolean[fieldCount];
        this.absent = new boolean[fieldCount];
        this.unknown = new boolean[fieldCount];
        this.boxes = new Box[fieldCount];
        Arrays.setAll(boxes, _ -> new Box());
    }

    synchronized void widen(int field, Slice encoded) {
        SpatialKind kind = kinds[field];
        if (kind != null) {
            ComponentFilter.grow(boxes[field], kind, encoded);
        }
        if (!seen[field]) {
            minLength[field] = copyTo(minOffset(field), encoded);
            maxLength[field] = copyTo(maxOffset(field), encoded);
            seen[field] = true;
            return;
        }
        if (encoded.compareBytes(min(field)) < 0) {
            minLength[field] = copyTo(minOffset(field), encoded);
        }
        if (encoded.compareBytes(max(field)) > 0) {
            maxLength[field] = copyTo(maxOffset(field), encoded);
        }
    }

    /** A record without a value of the field came in. */
    synchronized void markAbsent(int field) {
        absent[field] = true;
    }

    /** Something unknown came in: the layer can't be skipped by any field. */
    synchronized void markUnknown() {
        Arrays.fill(unknown, true);
    }

    /** The filter as it is now. */
    synchronized ComponentFilter snapshot() {
        ComponentFilter.Builder builder = ComponentFilter.builder(fields);
        for (int field = 0; field < seen.length; field++) {
            if (seen[field]) {
                builder.add(field, min(field));
                builder.add(field, max(field));
                builder.addBox(field, boxes[field]);
            }
            if (absent[field]) {
                builder.addAbsent(field);
            }
            if (unknown[field]) {
                builder.addUnknown(field);
            }
        }
        return builder.build();
    }

    boolean mayMatch(FilterPredicate predicate) {
        return ruledOutBy(predicate) == ComponentFilter.NOT_RULED_OUT;
    }

    /** As {@link ComponentFilter#ruledOutBy}, of what came in so far. */
    int ruledOutBy(FilterPredicate predicate) {
        return predicate.isNone() ? ComponentFilter.NOT_RULED_OUT : ruledOutNow(predicate);
    }

    private synchronized int ruledOutNow(FilterPredicate predicate) {
        int known = Math.min(seen.length, predicate.ranges().size());
        for (int i = 0; i < known; i++) {
            KeyRange range = predicate.ranges().get(i);
            boolean mayMatch = range.isAll()
                    || unknown[i]
                    || (seen[i]
                            ? ComponentFilter.mayMatch(range, absent[i], min(i), max(i))
                            : ComponentFilter.mayMatch(range, absent[i], null, null));
            if (!mayMatch) {
                return i;
            }
        }
        for (int i = 0; i < predicate.windows().size(); i++) {
            FilterPredicate.Window window = predicate.windows().get(i);
            int field = window.field();
            if (field < seen.length
                    && !unknown[field]
                    && !boxes[field].intersects(wanted.set(window.bounds()))) {
                return field;
            }
        }
        return ComponentFilter.NOT_RULED_OUT;
    }

    private Slice min(int field) {
        return low.set(values, minOffset(field), minLength[field]);
    }

    private Slice max(int field) {
        return high.set(values, maxOffset(field), maxLength[field]);
    }

    private int copyTo(long offset, Slice encoded) {
        MemorySegment.copy(encoded.segment(), encoded.offset(), values, offset, encoded.length());
        return encoded.length();
    }

    private static long minOffset(int field) {
        return 2L * Limits.KEY_BYTES_MAX * field;
    }

    private static long maxOffset(int field) {
        return minOffset(field) + Limits.KEY_BYTES_MAX;
    }
}
