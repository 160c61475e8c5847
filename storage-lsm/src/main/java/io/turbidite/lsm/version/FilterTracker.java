package io.turbidite.lsm.version;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.lsm.component.ComponentFilter;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The filter of a memory layer: per filter field the smallest and largest encoded value put in so
 * far, widened in place, so that an increasing field costs no garbage.
 *
 * <p><em>Thread-safe</em> by its monitor, held for two comparisons. Widened before the operation
 * completes, so whoever reads the watermark first and the filter second misses nothing.
 */
final class FilterTracker {
    private final int fieldCount;
    private final MemorySegment values;
    private final int[] minLength;
    private final int[] maxLength;
    private final boolean[] seen;
    private final boolean[] absent;
    private final Slice bound = new Slice();

    FilterTracker(int fieldCount) {
        this.fieldCount = fieldCount;
        this.values = NativeMemory.unowned(2L * Limits.KEY_BYTES_MAX * Math.max(1, fieldCount), 1);
        this.minLength = new int[fieldCount];
        this.maxLength = new int[fieldCount];
        this.seen = new boolean[fieldCount];
        this.absent = new boolean[fieldCount];
    }

    synchronized void widen(int field, Slice encoded) {
        if (!seen[field]) {
            minLength[field] = copyTo(minOffset(field), encoded);
            maxLength[field] = copyTo(maxOffset(field), encoded);
            seen[field] = true;
            return;
        }
        if (encoded.compareBytes(bound.set(values, minOffset(field), minLength[field])) < 0) {
            minLength[field] = copyTo(minOffset(field), encoded);
        }
        if (encoded.compareBytes(bound.set(values, maxOffset(field), maxLength[field])) > 0) {
            maxLength[field] = copyTo(maxOffset(field), encoded);
        }
    }

    /** A record without a value of the field came in: the layer can't be skipped by it. */
    synchronized void markAbsent(int field) {
        absent[field] = true;
    }

    /** The layer can't be skipped by any field. */
    synchronized void markAllAbsent() {
        Arrays.fill(absent, true);
    }

    /** The filter as it is now. */
    synchronized ComponentFilter snapshot() {
        ComponentFilter.Builder builder = ComponentFilter.builder(fieldCount);
        for (int field = 0; field < fieldCount; field++) {
            if (seen[field]) {
                builder.add(field, bound.set(values, minOffset(field), minLength[field]));
                builder.add(field, bound.set(values, maxOffset(field), maxLength[field]));
            }
            if (absent[field]) {
                builder.addAbsent(field);
            }
        }
        return builder.build();
    }

    boolean mayMatch(FilterPredicate predicate) {
        return predicate.isNone() || snapshot().mayMatch(predicate);
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
