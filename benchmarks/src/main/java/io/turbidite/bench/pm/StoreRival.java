package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.pm.PmKind;

import java.nio.file.Path;
import java.util.List;

/** Records in a store, with a secondary index of one kind. */
final class StoreRival implements AutoCloseable {
    private static final long SETTLED_NANOS = 300_000_000;
    private static final int MEMORY_SHARE = 16;
    private static final long MEMORY_BYTES_MIN = 1 << 20;

    /** What the index is. */
    enum Kind {
        PM("PM index", Maintenance.VALIDATION),
        LSM_VALIDATION("LSM index, validation", Maintenance.VALIDATION),
        LSM_EAGER("LSM index, eager", Maintenance.EAGER);

        private final String label;
        private final Maintenance maintenance;

        Kind(String label, Maintenance maintenance) {
            this.label = label;
            this.maintenance = maintenance;
        }

        String label() {
            return label;
        }

        private IndexSpec index() {
            return this == PM
                    ? IndexSpec.pm("by_key", "key")
                            .withParameter("mode", "volatile")
                            .withParameter("bytes", "16GiB")
                    : IndexSpec.btree("by_key", "key");
        }
    }

    private final Path directory;
    private final Store store;
    private final Dataset records;
    private final RecordWriter writer;
    private final KeySpec keys;
    private final String text;

    /**
     * @param recordCount how many there will be: the write memory is a sixteenth of them
     * @param recordBytes about how long each is
     */
    StoreRival(Path directory, Kind kind, int recordCount, int recordBytes) {
        this.directory = Scratch.empty(directory);
        long bytes = (long) recordCount * recordBytes;
        this.store = Store.open(
                directory,
                StoreOptions.defaults()
                        .withIndexKinds(new PmKind())
                        .withDurability(Durability.BUFFERED)
                        .withWriteMemoryBytes(Math.max(MEMORY_BYTES_MIN, bytes / MEMORY_SHARE))
                        .withCacheBytes(4 * bytes + (64L << 20)));
        this.records = store.createDataset(DatasetSpec.named("Records")
                .field("id", "int64")
                .field("key", "int64")
                .field("text", "string")
                .primaryKey("id")
                .maintenance(kind.maintenance)
                .components(ComponentOptions.primary().withKeyTree(true))
                .mergePolicy(MergePolicySpec.parse("tiering"))
                .index(kind.index()));
        this.writer = records.newRecordWriter();
        this.keys = KeySpec.of(records.type(), List.of("key"), "benchmark");
        this.text = "x".repeat(Math.max(1, recordBytes - 2 * Long.BYTES));
    }

    /** Writes all of a load; flushes and merges included. */
    void feed(Operations operations) {
        for (int i = 0; i < operations.count(); i++) {
            writer.begin();
            writer.setLong(0, operations.recordNumber(operations.record(i)));
            writer.setLong(1, operations.keyNumber(operations.key(i)));
            writer.setString(2, text);
            records.upsertRecord(writer.finish());
        }
        records.flush();
        settle();
    }

    private void settle() {
        Clock clock = Clock.system();
        long[] busy = {clock.monotonicNanos()};
        store.environment().tasks().await(() -> {
            long now = clock.monotonicNanos();
            if (total("merge.backlog.bytes") > 0) {
                busy[0] = now;
            }
            return now - busy[0] > SETTLED_NANOS;
        });
    }

    private long total(String name) {
        return store.meters().instruments().stream()
                .filter(instrument -> instrument.name().equals(name))
                .mapToLong(instrument -> ((Reading) instrument).value())
                .sum();
    }

    ReadView openView() {
        return records.openView();
    }

    /** What is asked for by a secondary key's number. */
    KeyRange range(long keyNumber) {
        byte[] key = keys.encode(keyNumber);
        return KeyRange.closed(key, key);
    }

    /** The newest records of a secondary key, as one number. */
    static long newest(ReadView view, KeyRange key, int limit) {
        IndexDescription index = view.indexes().getFirst();
        long[] times = new long[limit];
        long[] numbers = new long[limit];
        int count = 0;
        try (ValidSearch found = ValidSearch.open(view, 0, index, key, FilterPredicate.none())) {
            while (found.next()) {
                long time = found.timestamp();
                if (count == limit && time <= times[count - 1]) {
                    continue;
                }
                int at = count < limit ? count++ : count - 1;
                while (at > 0 && times[at - 1] < time) {
                    times[at] = times[at - 1];
                    numbers[at] = numbers[at - 1];
                    at--;
                }
                times[at] = time;
                numbers[at] = number(found.primaryKey());
            }
        }
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum = Operations.mixed(sum, numbers[i]);
        }
        return sum;
    }

    /** The number of a primary key: a byte that tells its length, then the bytes that count. */
    private static long number(Slice key) {
        long number = 0;
        for (int i = 1; i < key.length(); i++) {
            number = number << 8 | key.byteAt(i);
        }
        return number;
    }

    @Override
    public void close() {
        store.close();
        Scratch.delete(directory);
    }
}
