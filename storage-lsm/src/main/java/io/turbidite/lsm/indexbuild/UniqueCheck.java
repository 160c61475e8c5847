package io.turbidite.lsm.indexbuild;

import io.turbidite.core.Cleanup;
import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.read.PartitionReads;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Looks through all partitions of an index for two records with the same key: the partitions'
 * entries are merged in order, and each compared with the one before. Null and missing are equal to
 * nothing.
 */
public final class UniqueCheck {
    private static final int CHECK_INTERVAL = 4_096;

    private UniqueCheck() {}

    /**
     * Checks an index at a snapshot.
     *
     * @throws DuplicateKeyException naming the two records
     */
    public static void check(
            DatasetSchema schema,
            IndexSchema index,
            List<Partition> partitions,
            ViewState view,
            BooleanSupplier stop) {
        List<IndexCursor> cursors = new ArrayList<>();
        try (Cleanup _ = Cleanup.ofAll(cursors, IndexCursor::close)) {
            List<IndexCursor> live = new ArrayList<>();
            for (Partition partition : partitions) {
                IndexCursor cursor = PartitionReads.search(
                        partition, index, view, KeyRange.all(), FilterPredicate.none());
                cursors.add(cursor);
                if (cursor.next()) {
                    live.add(cursor);
                }
            }
            compare(schema, index, live, stop);
        }
    }

    private static void compare(
            DatasetSchema schema, IndexSchema index, List<IndexCursor> live, BooleanSupplier stop) {
        ByteSink lastKey = new ByteSink(256, Integer.MAX_VALUE - 16);
        ByteSink lastPrimary = new ByteSink(256, Integer.MAX_VALUE - 16);
        Slice key = new Slice();
        Slice primary = new Slice();
        boolean first = true;
        int untilCheck = CHECK_INTERVAL;
        IndexCursor least = least(live);
        while (least != null) {
            if (!first
                    && lastKey.asSlice(key).contentEquals(least.secondaryKey())
                    && !index.hasNull(key)) {
                throw DuplicateKeyException.ofIndex(
                        schema.name(),
                        index.name(),
                        index.fieldKey().decode(key, 0).toString(),
                        List.of(
                                schema.primaryKey()
                                        .decode(lastPrimary.asSlice(primary), 0)
                                        .toString(),
                                schema.primaryKey()
                                        .decode(least.primaryKey(), 0)
                                        .toString()));
            }
            first = false;
            lastKey.clear().putBytes(least.secondaryKey());
            lastPrimary.clear().putBytes(least.primaryKey());
            if (!least.next()) {
                live.remove(least);
            }
            if (--untilCheck == 0) {
                untilCheck = CHECK_INTERVAL;
                if (stop.getAsBoolean()) {
                    throw new StoppedException();
                }
            }
            least = least(live);
        }
    }

    /** Partitions are few. */
    private static @Nullable IndexCursor least(List<IndexCursor> live) {
        IndexCursor least = null;
        for (IndexCursor cursor : live) {
            if (least == null || cursor.secondaryKey().compareBytes(least.secondaryKey()) < 0) {
                least = cursor;
            }
        }
        return least;
    }
}
