package io.turbidite.bench.api;

import io.turbidite.core.record.RecordWriter;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.WriteBatch;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Records of ten texts of a hundred characters, those of YCSB, and two numbers to group by. Equal
 * seeds make equal records. <em>Confined to one thread.</em>
 */
final class MadeRecords {
    static final int GROUP_COUNT = 1_000;
    private static final int FIELD_COUNT = 10;
    private static final int PART_COUNT = 20;
    private static final int BATCH_RECORDS = 1_000;
    private static final int TEXT_CHARS = 100;

    private final int count;
    private SplittableRandom random = new SplittableRandom(7);

    /** @param count of each dataset */
    MadeRecords(int count) {
        this.count = count;
    }

    int count() {
        return count;
    }

    DatasetSpec spec(String name) {
        DatasetSpec spec = DatasetSpec.named(name)
                .field("id", "int64")
                .field("grp", "int32")
                .field("part", "int32");
        for (int i = 0; i < FIELD_COUNT; i++) {
            spec = spec.field("field" + i, "string");
        }
        return spec.primaryKey("id").index(IndexSpec.btree("by_grp", "grp"));
    }

    /** In batches: records by themselves would wait for a sync each. */
    void load(Store store, Dataset dataset) {
        random = new SplittableRandom(7);
        Map<String, Object> record = new HashMap<>();
        RecordWriter writer = dataset.newRecordWriter();
        WriteBatch batch = store.newBatch();
        for (int i = 0; i < count; i++) {
            record.put("id", (long) i);
            record.put("grp", i % GROUP_COUNT);
            record.put("part", i % PART_COUNT);
            for (int field = 0; field < FIELD_COUNT; field++) {
                record.put("field" + field, text());
            }
            batch.upsert(dataset, writer.write(record));
            if ((i + 1) % BATCH_RECORDS == 0 || i + 1 == count) {
                store.write(batch);
                batch.clear();
            }
        }
        dataset.flush();
    }

    private String text() {
        char[] text = new char[TEXT_CHARS];
        for (int i = 0; i < text.length; i++) {
            text[i] = (char) ('!' + random.nextInt(90));
        }
        return new String(text);
    }
}
