package io.turbidite.bench.engine;

import io.turbidite.bench.report.Report;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Many small records (8-byte key, 32-byte value) in a bounded memory budget: loaded in random order
 * by upserts, then read back by gets of keys that are there and of keys that are not, and by one
 * full scan. Every answer is checked. Run once, not in rounds.
 */
public final class SmallRecordsRun {
    private static final long MIB = 1 << 20;
    private static final long WRITE_MEMORY = 512 * MIB;
    private static final long CACHE = 1_024 * MIB;
    private static final int GETS = 1_000_000;
    private static final int VALUE_BYTES = 32;

    private final long records;
    private final Path directory;
    private final Slice record = new Slice();
    private final Slice text = new Slice();
    private final MemorySegment value = Arena.ofAuto().allocate(VALUE_BYTES);

    public SmallRecordsRun(long records, Path directory) {
        this.records = records;
        this.directory = directory;
    }

    public Report run() {
        Report report = new Report("Small records in a bounded memory budget", List.of("Turbidite"))
                .setting("machine", Report.machine())
                .setting("records", "%,d of 8-byte key and 32-byte value".formatted(records))
                .setting(
                        "memory",
                        "write memory %d MiB, cache %,d MiB, heap limit %,d MiB"
                                .formatted(
                                        WRITE_MEMORY / MIB,
                                        CACHE / MIB,
                                        Runtime.getRuntime().maxMemory() / MIB))
                .setting("command", "./turbidite bench small-records --records " + records);
        Path path = Scratch.empty(directory.resolve("small"));
        StoreOptions options = StoreOptions.defaults()
                .withWriteMemoryBytes(WRITE_MEMORY)
                .withCacheBytes(CACHE)
                .withDurability(Durability.BUFFERED);
        try (Store store = Store.open(path, options)) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Small")
                    .field("id", "int64")
                    .field("value", "bytes")
                    .primaryKey("id")
                    .mergePolicy(MergePolicySpec.parse("tiering", Map.of())));
            load(dataset, report);
        }
        try (Store store = Store.open(path, options)) {
            read(store.dataset("Small"), report);
        }
        report.add(
                "resident memory at most, MiB",
                "Turbidite",
                Costs.residentBytesMax() / (double) MIB);
        Scratch.delete(path);
        return report;
    }

    private void load(Dataset dataset, Report report) {
        RecordWriter writer = dataset.newRecordWriter();
        Slice valueSlice = new Slice();
        long cpu = Costs.cpuNanos();
        long written = Costs.writtenBytes();
        for (long i = 0; i < records; i++) {
            long id = idOf(i);
            writer.begin();
            writer.setLong(0, id);
            fillValue(id);
            valueSlice.set(value, 0, VALUE_BYTES);
            writer.setBinary(1, valueSlice);
            dataset.upsertRecord(writer.finish());
        }
        dataset.flush();
        report.add("upsert, us", "Turbidite", (Costs.cpuNanos() - cpu) / 1e3 / records);
        report.add(
                "bytes written / byte of records",
                "Turbidite",
                (Costs.writtenBytes() - written) / (records * (8.0 + VALUE_BYTES)));
    }

    private void read(Dataset dataset, Report report) {
        RecordView view = new RecordView(dataset.type());
        ByteSink key = new ByteSink(16, 64);
        ByteSink found = new ByteSink(256, 1 << 16);
        Slice keySlice = new Slice();
        SplittableRandom random = new SplittableRandom(7);
        long cpu = Costs.cpuNanos();
        for (int i = 0; i < GETS; i++) {
            long id = idOf(random.nextLong(records));
            key.clear();
            KeyCodec.appendLong(key, id);
            if (!dataset.getRecord(key.asSlice(keySlice), found)) {
                throw new IllegalStateException("record %d is lost".formatted(id));
            }
            checkValue(view.wrap(found.asSlice(record)), id);
        }
        report.add("get present, us", "Turbidite", (Costs.cpuNanos() - cpu) / 1e3 / GETS);
        cpu = Costs.cpuNanos();
        for (int i = 0; i < GETS; i++) {
            key.clear();
            KeyCodec.appendLong(key, idOf(records + random.nextLong(records)));
            if (dataset.getRecord(key.asSlice(keySlice), found)) {
                throw new IllegalStateException("a record that was never written is there");
            }
        }
        report.add("get absent, us", "Turbidite", (Costs.cpuNanos() - cpu) / 1e3 / GETS);
        cpu = Costs.cpuNanos();
        long rows = 0;
        try (ReadView moment = dataset.openView();
                RecordCursor cursor = moment.scan(0, KeyRange.all(), FilterPredicate.none())) {
            while (cursor.next()) {
                view.wrap(cursor.record());
                checkValue(view, view.getLong(0));
                rows++;
            }
        }
        if (rows != records) {
            throw new IllegalStateException("%d of %d records".formatted(rows, records));
        }
        report.add("scan, us a record", "Turbidite", (Costs.cpuNanos() - cpu) / 1e3 / records);
    }

    private void checkValue(RecordView view, long id) {
        Slice bytes = view.getBytes(1, text);
        fillValue(id);
        if (bytes.length() != VALUE_BYTES
                || MemorySegment.mismatch(
                                bytes.segment(),
                                bytes.offset(),
                                bytes.offset() + VALUE_BYTES,
                                value,
                                0,
                                VALUE_BYTES)
                        >= 0) {
            throw new IllegalStateException("record %d has another's value".formatted(id));
        }
    }

    private void fillValue(long id) {
        for (int at = 0; at < VALUE_BYTES; at += 8) {
            value.set(java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED, at, id * (at + 1));
        }
    }

    /** A permutation of the longs: different numbers have different ids, in no order. */
    private static long idOf(long number) {
        long mixed = (number ^ (number >>> 31)) * 0x9E3779B97F4A7C15L;
        return mixed ^ (mixed >>> 29);
    }
}
