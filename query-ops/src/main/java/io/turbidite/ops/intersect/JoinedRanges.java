package io.turbidite.ops.intersect;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.ops.search.IndexRange;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Searches whose common candidates are wanted. <em>Immutable.</em>
 *
 * @param ranges at least two, in the order in which they are read
 * @param estimated about how many entries each has
 * @param isAnswer whether the entries are the answer, so that no range may be left out
 * @param shown which of them has the entries that tuples are made of; {@link #NONE}
 */
public record JoinedRanges(
        List<IndexRange> ranges, List<Long> estimated, boolean isAnswer, int shown) {
    /** No entries are wanted, only primary keys. */
    public static final int NONE = -1;

    public JoinedRanges {
        ranges = List.copyOf(ranges);
        estimated = List.copyOf(estimated);
        if (ranges.size() < 2) {
            throw new IllegalArgumentException("there is nothing to join");
        }
    }

    /** Names of the indexes, in the order of reading. */
    public String names(String separator) {
        return ranges.stream()
                .map(range -> range.index().name())
                .collect(Collectors.joining(separator));
    }

    /** What lets the source skip layers: the same in all. */
    public FilterPredicate filter() {
        return ranges.getFirst().filter();
    }

    /**
     * Whether an entry has the timestamp of its record's version. Where an index is always valid it
     * may have that of an earlier version, whose entry was the same.
     */
    static boolean hasTimestampOfVersion(IndexRange range) {
        return !range.index().alwaysValid();
    }

    /** Whether some index says by its timestamps which version it means. */
    public boolean isByTimestamp() {
        return ranges.stream().anyMatch(JoinedRanges::hasTimestampOfVersion);
    }

    /**
     * Whether what all indexes have of a version is what its record says: none shows entries that
     * it can't vouch for.
     */
    public boolean isExact() {
        return ranges.stream()
                .allMatch(
                        range -> hasTimestampOfVersion(range) || range.filter().isNone());
    }

    /** Whether the entries of a search come in the order of primary keys. */
    public static boolean isInKeyOrder(IndexRange range) {
        if (range.search() instanceof TermSearch) {
            return true;
        }
        if (!range.index().kind().hasRanges()
                || range.narrowed().size() != range.index().fields().size()
                || !(range.search() instanceof KeyRange keys)) {
            return false;
        }
        Slice low = keys.low();
        Slice high = keys.high();
        return low != null
                && high != null
                && Arrays.equals(KeyRange.successor(low.toByteArray()), high.toByteArray());
    }
}
