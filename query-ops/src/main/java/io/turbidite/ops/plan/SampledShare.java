package io.turbidite.ops.plan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.ops.expr.RecordPredicate;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;

/**
 * Which share of the records of a scan matches a query, told from a few of them: {@value
 * #PLACE_COUNT} places with about as many records before each as before the next, {@value
 * #PLACE_RECORDS} records at each. Nothing is kept, so nothing can be out of date.
 *
 * <p>A place is found by halving the keys between the first and the last one, by estimates from
 * metadata. All in all it costs what a scan of some 10,000 records does. <em>Confined to one
 * thread.</em>
 */
final class SampledShare {
    /** Fewer records are scanned in less time than a sample takes. */
    static final long SCAN_ROWS_MIN = 20_000;

    private static final int PLACE_COUNT = 8;
    private static final int PLACE_RECORDS = 32;

    /** Halvings for a place; keys that lie very unevenly have it somewhere near. */
    private static final int HALVINGS_MAX = 30;

    private final ReadView view;
    private final KeyRange keys;
    private final FilterPredicate filter;
    private final RecordPredicate[] predicates;
    private final RecordView record;
    private int sampled;
    private int matching;

    private SampledShare(CheckedQuery query, ReadView view, KeyRange keys, FilterPredicate filter) {
        this.view = view;
        this.keys = keys;
        this.filter = filter;
        this.predicates = query.compile(List.of());
        this.record = new RecordView(query.type());
    }

    /**
     * The share, from 0 to 1; where no record of the sample matches, what half a record would be;
     * negative if there were too few to tell.
     */
    static double of(CheckedQuery query, ReadView view, Access.Scan scan, long scanRows) {
        SampledShare share =
                new SampledShare(query, view, scan.range().keys(), scan.range().filter());
        share.sample(scanRows);
        return share.sampled < PLACE_COUNT * PLACE_RECORDS / 2
                ? -1
                : Math.max(0.5, share.matching) / share.sampled;
    }

    private void sample(long scanRows) {
        byte @Nullable [] first = end(true);
        byte @Nullable [] last = end(false);
        if (first == null || last == null) {
            return;
        }
        int common = Arrays.mismatch(first, last);
        byte[] prefix = Arrays.copyOf(first, Math.max(0, common));
        long low = word(first, prefix.length);
        long high = word(last, prefix.length);
        for (int place = 0; place < PLACE_COUNT; place++) {
            long before = scanRows * place / PLACE_COUNT;
            read(place % view.partitionCount(), key(prefix, at(prefix, low, high, before)));
        }
    }

    /** The first key of any partition, or the last one; null if there is no record. */
    private byte @Nullable [] end(boolean isFirst) {
        byte @Nullable [] end = null;
        for (int partition = 0; partition < view.partitionCount(); partition++) {
            try (RecordCursor cursor = view.scan(partition, keys, filter)) {
                if (!isFirst) {
                    cursor.seekEnd();
                }
                if (isFirst ? cursor.next() : cursor.previous()) {
                    byte[] key = cursor.key().toByteArray();
                    if (end == null || Arrays.compareUnsigned(key, end) < 0 == isFirst) {
                        end = key;
                    }
                }
            }
        }
        return end;
    }

    /** Where about so many records lie before. */
    private long at(byte[] prefix, long low, long high, long before) {
        long from = low;
        long to = high;
        for (int i = 0; i < HALVINGS_MAX && before > 0 && Long.compareUnsigned(from, to) < 0; i++) {
            long middle = from + ((to - from) >>> 1);
            KeyRange below = KeyRange.of(lowest(), key(prefix, middle));
            if (view.estimateScan(below, filter) < before) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    private byte @Nullable [] lowest() {
        Slice low = keys.low();
        return low == null ? null : low.toByteArray();
    }

    private void read(int partition, byte[] from) {
        Slice high = keys.high();
        KeyRange rest = KeyRange.of(from, high == null ? null : high.toByteArray());
        try (RecordCursor cursor = view.scan(partition, rest, filter)) {
            for (int i = 0; i < PLACE_RECORDS && cursor.next(); i++) {
                sampled++;
                record.wrap(cursor.record());
                if (matches()) {
                    matching++;
                }
            }
        }
    }

    private boolean matches() {
        for (RecordPredicate predicate : predicates) {
            if (!SampledShares.holds(predicate, record)) {
                return false;
            }
        }
        return true;
    }

    /** Eight bytes of a key behind its prefix, most significant first. */
    private static long word(byte[] key, int at) {
        long word = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            word = word << Byte.SIZE | (at + i < key.length ? key[at + i] & 0xFF : 0);
        }
        return word;
    }

    private static byte[] key(byte[] prefix, long word) {
        byte[] key = Arrays.copyOf(prefix, prefix.length + Long.BYTES);
        for (int i = 0; i < Long.BYTES; i++) {
            key[prefix.length + i] = (byte) (word >>> (Byte.SIZE * (Long.BYTES - 1 - i)));
        }
        return key;
    }
}
