package io.turbidite.lsm.read;

import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Between which keys the components lie that one reader reads. Most often each component begins
 * behind all before it: then one look at the keys of all together tells. <em>Confined to one
 * thread.</em>
 */
final class KeysRead {
    /** First and last key of a component. */
    private record Span(Slice min, Slice max) {
        boolean meets(Slice otherMin, Slice otherMax) {
            return otherMin.compareBytes(max) <= 0 && otherMax.compareBytes(min) >= 0;
        }
    }

    private final List<Span> spans = new ArrayList<>();

    /** From the first key of all to the last one; null while there is none. */
    private @Nullable Span all;

    /** Whether some component has keys in the range from {@code min} to {@code max}. */
    boolean meet(Slice min, Slice max) {
        Span whole = all;
        if (whole == null || !whole.meets(min, max)) {
            return false;
        }
        for (Span span : spans) {
            if (span.meets(min, max)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Adds a component.
     *
     * @param min must not change any more
     * @param max must not change any more
     */
    void add(Slice min, Slice max) {
        Span added = new Span(min, max);
        spans.add(added);
        Span whole = all;
        all = whole == null
                ? added
                : new Span(
                        min.compareBytes(whole.min) < 0 ? min : whole.min,
                        max.compareBytes(whole.max) > 0 ? max : whole.max);
    }
}
