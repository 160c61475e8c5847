package io.turbidite.lsm.read;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;

/**
 * What a cursor over a tree reads. <em>Immutable.</em>
 *
 * @param keys the range of its keys
 * @param filter lets layers be skipped
 * @param band the timestamps of its entries; all but in a primary with live bitmaps
 */
record ScanBounds(KeyRange keys, FilterPredicate filter, TimestampRange band) {
    ScanBounds(KeyRange keys, FilterPredicate filter) {
        this(keys, filter, TimestampRange.ALL);
    }
}
