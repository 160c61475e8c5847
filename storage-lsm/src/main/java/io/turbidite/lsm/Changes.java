package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.scan.RecordCursor;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Calls on a dataset that are made of several simple ones. */
final class Changes {
    /** Most deletes in one atomic batch of {@link Dataset#deleteRange}. */
    private static final int DELETE_BATCH_COUNT = 4_096;

    /** Bytes of the records that {@link Dataset#getAll} reads at once. */
    private static final int GET_BYTES_MAX = Integer.MAX_VALUE - 16;

    private Changes() {}

    static @Nullable Map<String, @Nullable Object> compute(
            Dataset dataset,
            UnaryOperator<@Nullable Map<String, @Nullable Object>> change,
            Object... primaryKey) {
        while (true) {
            VersionedRecord before = dataset.getVersioned(primaryKey);
            Map<String, @Nullable Object> after =
                    change.apply(before == null ? null : before.fields());
            if (after != null) {
                requireKey(dataset, after, primaryKey);
            }
            if (isDone(dataset, before, after, primaryKey)) {
                return after;
            }
        }
    }

    private static boolean isDone(
            Dataset dataset,
            @Nullable VersionedRecord before,
            @Nullable Map<String, @Nullable Object> after,
            Object... primaryKey) {
        if (before == null) {
            return after == null || dataset.insertIfAbsent(after);
        }
        return after == null
                ? dataset.deleteIf(before.version(), primaryKey)
                : dataset.replaceIf(before.version(), after);
    }

    private static void requireKey(
            Dataset dataset, Map<String, @Nullable Object> fields, Object... primaryKey) {
        KeySpec spec = dataset.primaryKeySpec();
        @Nullable
        Object[] values = dataset.primaryKey().stream().map(fields::get).toArray();
        if (!Arrays.equals(spec.encode(primaryKey), spec.encode(values))) {
            throw new InvalidRequestException(
                    "dataset %s: the new record has the primary key %s, not %s"
                            .formatted(
                                    dataset.name(),
                                    Arrays.toString(values),
                                    Arrays.toString(primaryKey)));
        }
    }

    static List<@Nullable Map<String, @Nullable Object>> getAll(
            Dataset dataset, List<?> primaryKeys) {
        KeyBatch keys = new KeyBatch(GET_BYTES_MAX);
        for (Object primaryKey : primaryKeys) {
            Object[] values =
                    primaryKey instanceof List<?> list ? list.toArray() : new Object[] {primaryKey};
            if (!keys.add(Slice.of(dataset.encodeKey(values)))) {
                throw new InvalidRequestException(String.format(
                        Locale.ROOT,
                        "%,d keys are too many to be read at once",
                        primaryKeys.size()));
            }
        }
        RecordBatch records = new RecordBatch(GET_BYTES_MAX);
        dataset.getRecords(keys, records);
        List<@Nullable Map<String, @Nullable Object>> found = new ArrayList<>();
        RecordView view = new RecordView(dataset.type());
        Slice record = new Slice();
        for (int i = 0; i < primaryKeys.size(); i++) {
            found.add(
                    records.isPresent(i) ? view.wrap(records.record(i, record)).toMap() : null);
        }
        return found;
    }

    static long deleteRange(Store store, Dataset dataset, KeyRange primaryKeys) {
        WriteBatch batch = store.newBatch();
        // far below what the log takes, whose record has more than keys
        int bytesMax = store.engine().options().log().payloadBytesMax() / 4;
        long count = 0;
        try (ReadView view = dataset.openView()) {
            for (int i = 0; i < view.partitionCount(); i++) {
                try (RecordCursor records = view.scan(i, primaryKeys, FilterPredicate.none())) {
                    while (records.next()) {
                        batch.delete(dataset, records.key());
                        count++;
                        if (batch.size() >= DELETE_BATCH_COUNT || batch.byteCount() >= bytesMax) {
                            store.write(batch);
                            batch.clear();
                        }
                    }
                }
            }
        }
        store.write(batch);
        return count;
    }
}
