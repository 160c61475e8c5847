package io.turbidite.bench.peer;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.ComponentSpace;
import io.turbidite.lsm.merge.MergePolicySpec;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Turbidite: one dataset, eager, one partition, tiering (LUO19), write-ahead log on, no sync per
 * write.
 */
public final class TurbiditeEngine implements Engine {
    private static final int BATCH_BYTES = 1 << 20;
    private static final int ATTRIBUTE = 1;
    private static final int CREATED = ATTRIBUTE + Tweet.ATTRIBUTE_COUNT;
    private static final int MESSAGE = CREATED + 1;

    private static final long LOOK_NANOS = 20_000_000;
    private static final int QUIET_LOOKS = 5;

    private final Store store;

    /** Whether the log's records are stored to mapped files. */
    private final boolean isMapped;

    private final Dataset tweets;
    private final Reading mergeBacklog;
    private final RecordView view;
    private final KeySpec attributeKey;
    private final ByteSink keyBytes = new ByteSink(64, 1 << 16);
    private final ByteSink recordBytes = new ByteSink(1 << 10, 1 << 20);
    private final Slice key = new Slice();
    private final Slice text = new Slice();

    public TurbiditeEngine(PeerOptions options) {
        store = Store.open(
                options.directory(),
                StoreOptions.defaults()
                        .withWriteMemoryBytes(options.writeMemoryBytes())
                        .withCacheBytes(options.cacheBytes())
                        .withDirectIo(options.directIo())
                        .withDurability(options.durability()));
        isMapped = options.durability() == Durability.PROCESS
                && RealDisk.open(options.directory()).mapsFiles();
        DatasetSpec spec = DatasetSpec.named("Tweets").field("id", "int64");
        for (int i = 0; i < Tweet.ATTRIBUTE_COUNT; i++) {
            spec.field("a" + i, "int32");
        }
        spec.field("created", "datetime")
                .field("message", "string")
                .primaryKey("id")
                .filter("created")
                .mergePolicy(MergePolicySpec.parse("tiering", Map.of()));
        for (int i = 0; i < options.secondaryCount(); i++) {
            spec.index(IndexSpec.btree("by_a" + i, "a" + i));
        }
        tweets = store.createDataset(spec);
        mergeBacklog = reading("merge.backlog.bytes");
        view = new RecordView(tweets.type());
        attributeKey = KeySpec.of(tweets.type(), List.of("a0"), "benchmark");
    }

    @Override
    public String name() {
        return "Turbidite";
    }

    @Override
    public Writer newWriter() {
        RecordWriter writer = tweets.newRecordWriter();
        return tweet -> tweets.upsertRecord(tweet.record(writer));
    }

    /**
     * A flush starts the merges that it makes due at once; they are over when none was seen for a
     * while.
     */
    @Override
    public void settle() {
        tweets.flush();
        int looks = 0;
        while (looks < QUIET_LOOKS) {
            LockSupport.parkNanos(LOOK_NANOS);
            looks = mergeBacklog.value() == 0 ? looks + 1 : 0;
        }
    }

    @Override
    public int get(long id) {
        keyBytes.clear();
        KeyCodec.appendLong(keyBytes, id);
        if (!tweets.getRecord(keyBytes.asSlice(key), recordBytes)) {
            return -1;
        }
        return (int) view.wrap(recordBytes.asSlice(key)).getLong(ATTRIBUTE);
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

    private long answerOf(RecordStream cursor) {
        view.wrap(cursor.record());
        return Answer.of(
                view.getLong(0),
                (int) view.getLong(ATTRIBUTE),
                view.getBytes(MESSAGE, text).length());
    }

    @Override
    public Answer byAttribute(int low, int high) {
        long rows = 0;
        long sum = 0;
        KeyRange range = KeyRange.closed(attributeKey.encode(low), attributeKey.encode(high));
        KeyBatch keys = new KeyBatch(BATCH_BYTES);
        try (ReadView moment = tweets.openView();
                IndexCursor entries = moment.search(0, "by_a0", range, FilterPredicate.none())) {
            boolean more = entries.next();
            while (more) {
                keys.clear();
                while (more && keys.add(entries.primaryKey())) {
                    more = entries.next();
                }
                keys.sortDistinct();
                try (RecordStream records = moment.fetch(0, keys)) {
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
        return diskParts().values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public Map<String, Long> diskParts() {
        Map<String, Long> parts = new TreeMap<>();
        for (StoreDescription.DatasetDescription dataset : store.describe().datasets()) {
            for (StoreDescription.PartitionDescription partition : dataset.partitions()) {
                for (StoreDescription.IndexDescription index : partition.indexes()) {
                    String kind = index.name().equals("primary") ? "primary" : "secondaries";
                    for (StoreDescription.ComponentDescription one : index.components()) {
                        add(parts, kind, one);
                    }
                }
            }
        }
        return parts;
    }

    @Override
    public Map<String, Long> writtenParts() {
        Map<String, Long> parts = new TreeMap<>();
        parts.put("log", total("log.bytes.written"));
        parts.put("log, zeros first", total("log.bytes.zero"));
        parts.put("flushes", store.meters().counter("flush.bytes").sum());
        parts.put("merges", store.meters().counter("merge.bytes.written").sum());
        return parts;
    }

    @Override
    public long storedBytes() {
        return isMapped ? total("log.bytes.written") : 0;
    }

    @Override
    public long aheadBytes() {
        return total("log.bytes.zero");
    }

    private long total(String name) {
        return reading(name).value();
    }

    private Reading reading(String name) {
        return store.meters().instruments().stream()
                .filter(instrument -> instrument.name().equals(name))
                .map(Reading.class::cast)
                .findFirst()
                .orElseThrow();
    }

    private static void add(
            Map<String, Long> parts, String kind, StoreDescription.ComponentDescription one) {
        ComponentSpace space = one.space();
        long rest = one.bytes() - space.recordPages() - space.keyPages() - space.bloom();
        parts.merge(kind + ", record pages", space.recordPages(), Long::sum);
        parts.merge(kind + ", key tree", space.keyPages(), Long::sum);
        parts.merge(kind + ", Bloom filters", space.bloom(), Long::sum);
        parts.merge(kind + ", interiors and the rest", rest, Long::sum);
    }

    @Override
    public void close() {
        store.close();
    }
}
