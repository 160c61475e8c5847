package io.turbidite.lsm.read;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.rtree.NearestCursor;
import io.turbidite.lsm.rtree.WindowWork;

import org.jspecify.annotations.Nullable;

/**
 * What a cursor over a tree reads. <em>Immutable.</em>
 *
 * @param keys the range of its keys
 * @param filter lets layers be skipped
 * @param spatial what of an R-tree's keys is shown; null for all
 * @param work where the search for these counts
 * @param band the timestamps of its entries; all but in a primary with live bitmaps
 * @param token with which all of the keys begin, as it stands in them; null if there is not one
 */
record ScanBounds(
        KeyRange keys,
        FilterPredicate filter,
        IndexSearch.@Nullable Spatial spatial,
        WindowWork work,
        TimestampRange band,
        @Nullable Slice token) {
    /** Bytes in front of the keys that a search for neighbours shows: how far they are. */
    static final int DISTANCE_BYTES = NearestCursor.DISTANCE_BYTES;

    ScanBounds(KeyRange keys, FilterPredicate filter) {
        this(keys, filter, TimestampRange.ALL);
    }

    ScanBounds(KeyRange keys, FilterPredicate filter, TimestampRange band) {
        this(keys, filter, null, new WindowWork(), band, null);
    }

    ScanBounds(IndexSearch.Spatial spatial, FilterPredicate filter, WindowWork work) {
        this(KeyRange.all(), filter, spatial, work, TimestampRange.ALL, null);
    }

    /** The entries of a token. */
    static ScanBounds ofToken(KeyRange entries, FilterPredicate filter) {
        return new ScanBounds(
                entries, filter, null, new WindowWork(), TimestampRange.ALL, entries.low());
    }
}
