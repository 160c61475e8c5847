package io.turbidite.lsm.component;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Between which values of the filter fields the records on a component's pages lie, as scans by
 * these fields have learned it: the first of them reads each page's records, the next ones pass
 * over the pages that they can't want. Kept on the heap while the component is open, for {@value
 * #GROUPS_MAX} groups of neighbouring pages at most, 36 bytes each and for each field.
 *
 * <p><em>Thread-safe</em>: what is learned of a group is always the same, and is seen once it is
 * known.
 */
public final class PageBounds {
    static final int GROUPS_MAX = 1_024;

    /** Of one group and field: four words, and flags. */
    private static final long GROUP_BYTES = 4 * Long.BYTES + Integer.BYTES;

    private final int pageCount;
    private final int groupPages;
    private final AtomicReferenceArray<@Nullable Field> fields;

    PageBounds(int pageCount, int fieldCount) {
        this.pageCount = pageCount;
        this.groupPages = Math.max(1, (pageCount + GROUPS_MAX - 1) / GROUPS_MAX);
        this.fields = new AtomicReferenceArray<>(fieldCount);
    }

    int pageCount() {
        return pageCount;
    }

    int group(int page) {
        return page / groupPages;
    }

    int firstPage(int group) {
        return group * groupPages;
    }

    boolean isFirstOfGroup(int page) {
        return page % groupPages == 0;
    }

    boolean isLastOfGroup(int page) {
        return page + 1 == pageCount || isFirstOfGroup(page + 1);
    }

    /** Bytes on the heap of what is known, or being learned; object headers left out. */
    long bytes() {
        long sum = 0;
        for (int i = 0; i < fields.length(); i++) {
            Field known = fields.get(i);
            sum += known == null ? 0 : GROUP_BYTES * known.mins.length;
        }
        return sum;
    }

    Field field(int index) {
        Field known = fields.get(index);
        if (known != null) {
            return known;
        }
        Field made = new Field(pageCount == 0 ? 0 : group(pageCount - 1) + 1);
        Field before = fields.compareAndExchange(index, null, made);
        return before == null ? made : before;
    }

    /**
     * Of one field and each group, the first sixteen bytes, padded with zeros, of the smallest and
     * the largest encoded value.
     */
    static final class Field {
        private static final int KNOWN = 1;
        private static final int SEEN = 2;
        private static final int ABSENT = 4;

        private final long[] mins;
        private final long[] minSeconds;
        private final long[] maxs;
        private final long[] maxSeconds;

        /** Written last, read first. */
        private final AtomicIntegerArray flags;

        Field(int groups) {
            mins = new long[groups];
            minSeconds = new long[groups];
            maxs = new long[groups];
            maxSeconds = new long[groups];
            flags = new AtomicIntegerArray(groups);
        }

        boolean isKnown(int group) {
            return flags.getAcquire(group) != 0;
        }

        void put(int group, Words min, Words max, boolean isSeen, boolean hasAbsent) {
            mins[group] = min.first;
            minSeconds[group] = min.second;
            maxs[group] = max.first;
            maxSeconds[group] = max.second;
            flags.setRelease(group, KNOWN | (isSeen ? SEEN : 0) | (hasAbsent ? ABSENT : 0));
        }

        /**
         * Whether no record of a group can be wanted.
         *
         * @param wantsAbsent whether records without a value are
         * @param low the smallest value wanted; null if there is no bound
         * @param high no value above it is
         */
        boolean rulesOut(
                int group, boolean wantsAbsent, @Nullable Words low, @Nullable Words high) {
            int known = flags.getAcquire(group);
            if (known == 0 || (wantsAbsent && (known & ABSENT) != 0)) {
                return false;
            }
            return (known & SEEN) == 0
                    || (low != null && low.compareTo(maxs[group], maxSeconds[group]) > 0)
                    || (high != null && high.compareTo(mins[group], minSeconds[group]) < 0);
        }
    }

    /** Sixteen bytes. <em>Confined to one thread while they are set.</em> */
    static final class Words {
        long first;
        long second;

        void set(long newFirst, long newSecond) {
            first = newFirst;
            second = newSecond;
        }

        int compareTo(long otherFirst, long otherSecond) {
            int order = Long.compareUnsigned(first, otherFirst);
            return order != 0 ? order : Long.compareUnsigned(second, otherSecond);
        }
    }
}
