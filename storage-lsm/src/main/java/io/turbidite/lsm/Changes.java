package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.lsm.write.Operations;

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
        RecordWriter writer = dataset.newRecordWriter();
        while (true) {
            VersionedRecord before = dataset.getVersioned(primaryKey);
            Map<String, @Nullable Object> after =
                    change.apply(before == null ? null : before.fields());
            if (after == null) {
                if (before == null || dataset.deleteIf(before.version(), primaryKey)) {
                    return null;
                }
            } else {
                Slice record = writer.write(after);
                requireKey(dataset, record, primaryKey);
                long version = before == null ? Operations.NO_VERSION : before.version();
                if (dataset.putIf(version, record)) {
                    return after;
                }
            }
        }
    }

    /** The encoded record is asked, since a field of the key may lie in a nested one. */
    private static void requireKey(Dataset dataset, Slice record, Object... primaryKey) {
        KeySpec spec = dataset.primaryKeySpec();
        ByteSink key = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
        spec.append(new RecordView(dataset.type()).wrap(record), key);
        Slice encoded = key.asSlice(new Slice());
        if (!encoded.contentEquals(Slice.of(spec.encode(primaryKey)))) {
            throw new InvalidRequestException(
                    "dataset %s: the new record has the primary key %s, not %s"
                            .formatted(
                                    dataset.name(),
                                    spec.decode(encoded, 0),
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
