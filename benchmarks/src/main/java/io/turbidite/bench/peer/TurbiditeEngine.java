package io.turbidite.bench.peer;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;

import java.nio.file.Path;
import java.util.List;

/** Turbidite: one dataset, eager, one partition, write-ahead log on, no sync per write. */
public final class TurbiditeEngine implements Engine {
    private static final int BATCH_BYTES = 1 << 20;

    private final Store store;
    private final Dataset tweets;
    private final RecordWriter writer;
    private final RecordView view;
    private final KeySpec userKey;
    private final ByteSink keyBytes = new ByteSink(64, 1 << 16);
    private final ByteSink recordBytes = new ByteSink(1 << 10, 1 << 20);
    private final Slice key = new Slice();
    private final Slice text = new Slice();

    /**
     * @param writeMemoryBytes memory components of all indexes together
     * @param cacheBytes the buffer cache
     */
    public TurbiditeEngine(Path directory, long writeMemoryBytes, long cacheBytes) {
        store = Store.open(
                directory,
                StoreOptions.defaults()
                        .withWriteMemoryBytes(writeMemoryBytes)
                        .withCacheBytes(cacheBytes)
                        .withDurability(Durability.NONE));
        tweets = store.createDataset(DatasetSpec.named("Tweets")
                .field("id", "int64")
                .field("user", "int32")
                .field("created", "datetime")
                .field("message", "string")
                .primaryKey("id")
                .filter("created")
                .index(IndexSpec.btree("by_user", "user")));
        writer = tweets.newRecordWriter();
        view = new RecordView(tweets.type());
        userKey = KeySpec.of(tweets.type(), List.of("user"), "benchmark");
    }

    @Override
    public String name() {
        return "Turbidite";
    }

    @Override
    public void upsert(Tweet tweet) {
        writer.begin();
        writer.setLong(0, tweet.id);
        writer.setLong(1, tweet.user);
        writer.setLong(2, tweet.created);
        writer.setString(3, tweet.message);
        tweets.upsertRecord(writer.finish());
    }

    @Override
    public void settle() {
        tweets.flush();
    }

    @Override
    public int get(long id) {
        keyBytes.clear();
        KeyCodec.appendLong(keyBytes, id);
        if (!tweets.getRecord(keyBytes.asSlice(key), recordBytes)) {
            return -1;
        }
        return (int) view.wrap(recordBytes.asSlice(key)).getLong(1);
    }

    @Override
    public Answer scan() {
        long rows = 0;
        long sum = 0;
        try (ReadView moment = tweets.openView();
                RecordCursor cursor = moment.scan(0, KeyRange.all(), FilterPredicate.none())) {
            while (cursor.next()) {
                rows++;
                sum += answerOf(cursor);
            }
        }
        return new Answer(rows, sum);
    }

    private long answerOf(RecordCursor cursor) {
        view.wrap(cursor.record());
        return Answer.of(
                view.getLong(0), (int) view.getLong(1), view.getBytes(3, text).length());
    }

    @Override
    public Answer byUser(int low, int high) {
        long rows = 0;
        long sum = 0;
        KeyRange range = KeyRange.closed(userKey.encode(low), userKey.encode(high));
        KeyBatch keys = new KeyBatch(BATCH_BYTES);
        try (ReadView moment = tweets.openView();
                IndexCursor entries = moment.search(0, "by_user", range, FilterPredicate.none())) {
            boolean more = entries.next();
            while (more) {
                keys.clear();
                while (more && keys.add(entries.primaryKey())) {
                    more = entries.next();
                }
                keys.sortDistinct();
                try (RecordCursor records = moment.fetch(0, keys)) {
                    while (records.next()) {
                        rows++;
                        sum += answerOf(records);
                    }
                }
            }
        }
        return new Answer(rows, sum);
    }

    @Override
    public long diskBytes() {
        long bytes = 0;
        for (StoreDescription.DatasetDescription dataset : store.describe().datasets()) {
            for (StoreDescription.PartitionDescription partition : dataset.partitions()) {
                for (StoreDescription.IndexDescription index : partition.indexes()) {
                    for (StoreDescription.ComponentDescription one : index.components()) {
                        bytes += one.bytes();
                    }
                }
            }
        }
        return bytes;
    }

    @Override
    public void close() {
        store.close();
    }
}
