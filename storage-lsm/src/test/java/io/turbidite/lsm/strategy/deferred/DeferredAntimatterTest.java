package io.turbidite.lsm.strategy.deferred;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.FieldKeys;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ListCursor;
import io.turbidite.lsm.entry.ListCursor.Row;
import io.turbidite.lsm.memory.TestChunks;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexCatalog;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.sort.SortStorage;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

class DeferredAntimatterTest {
    private static final int CHUNK = 64 << 10;
    private static final int BY_CITY = 1;
    private static final int BY_AGE = 2;
    private static final RecordType TYPE = RecordType.of(List.of(
            Field.parse("id", "int64"),
            Field.parse("city", "string?"),
            Field.parse("age", "int64")));
    private static final long SEED = Seeds.of("DeferredAntimatterTest");

    private final TestChunks chunks = new TestChunks(CHUNK);
    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final Counter spilled = new Meters().counter("spilled");
    private final RecordWriter writer = new RecordWriter(TYPE);
    private final DatasetSchema schema = schema();

    private static DatasetSchema schema() {
        List<IndexSchema> indexes = List.of(
                index(BY_CITY, "city", Maintenance.DEFERRED),
                index(BY_AGE, "age", Maintenance.DEFERRED),
                index(3, "id", Maintenance.EAGER));
        return new DatasetSchema(
                1,
                1,
                "People",
                TYPE,
                KeySpec.of(TYPE, List.of("id"), "primary key"),
                List.of(),
                IndexCatalog.of("People", indexes, 4),
                1,
                new DatasetOptions(
                        Maintenance.EAGER,
                        MergePolicySpec.parse("correlated-no-merge"),
                        ComponentOptions.primary(),
                        null,
                        MergeRepair.MERGE,
                        BitmapHandover.SIDE_FILE));
    }

    private static IndexSchema index(int id, String field, Maintenance maintenance) {
        return new IndexSchema(
                id,
                "by_" + field,
                IndexDescription.Kind.BTREE,
                FieldKeys.of(TYPE, List.of(field), "index", KeyForm.CURRENT),
                maintenance,
                false,
                null,
                IndexSchema.State.READY);
    }

    private DeferredAntimatter create(long sortBytes) {
        disk.createDirectories("data");
        return new DeferredAntimatter(
                schema,
                new SortStorage(
                        disk,
                        chunks,
                        7,
                        new AtomicLong()::incrementAndGet,
                        StoreFiles::sortRun,
                        spilled),
                sortBytes);
    }

    @AfterEach
    void nothing_is_left() {
        assertThat(chunks.taken()).as("chunks").isZero();
        assertThat(disk.openHandles()).isEmpty();
        assertThat(disk.files()).isEmpty();
        chunks.close();
    }

    private Slice record(long id, String city, long age) {
        return Slice.of(writer.write(Map.of("id", id, "city", city, "age", age)).toByteArray());
    }

    private Slice key(long id) {
        ByteSink sink = new ByteSink(16, 64);
        schema.primaryKey().appendValues(sink, List.of(id));
        return Slice.of(sink.asSlice(new Slice()).toByteArray());
    }

    private byte[] entry(int index, Object value, long id) {
        ByteSink sink = new ByteSink(16, 1 << 12);
        schema.catalog().all().get(index - 1).fieldKey().appendValues(sink, List.of(value));
        sink.putBytes(key(id));
        return sink.asSlice(new Slice()).toByteArray();
    }

    private static List<Row> sorted(DeferredAntimatter made, int index) {
        List<Row> rows = new ArrayList<>();
        try (EntryStream entries = made.sorted(index)) {
            while (entries.next()) {
                rows.add(Row.of(entries));
            }
        }
        return rows;
    }

    private Row antimatter(int index, Object value, long id, long timestamp) {
        return new Row(entry(index, value, id), timestamp, true, new byte[0]);
    }

    @Test
    void antimatter_has_the_old_secondary_key_and_the_overwriters_timestamp() {
        try (DeferredAntimatter made = create(0)) {
            made.superseded(key(5), 10, record(5, "Bergen", 30), 17, record(5, "Oslo", 31));
            assertThat(sorted(made, BY_CITY)).containsExactly(antimatter(BY_CITY, "Bergen", 5, 17));
            assertThat(sorted(made, BY_AGE)).containsExactly(antimatter(BY_AGE, 30L, 5, 17));
        }
    }

    @Test
    void a_delete_gives_antimatter_for_every_index() {
        try (DeferredAntimatter made = create(0)) {
            made.superseded(key(5), 10, record(5, "Bergen", 30), 17, new Slice());
            assertThat(sorted(made, BY_CITY)).containsExactly(antimatter(BY_CITY, "Bergen", 5, 17));
            assertThat(sorted(made, BY_AGE)).containsExactly(antimatter(BY_AGE, 30L, 5, 17));
        }
    }

    /** Tarantool's issue 3693. */
    @Test
    void an_index_whose_key_has_not_changed_gets_none() {
        try (DeferredAntimatter made = create(0)) {
            made.superseded(key(5), 10, record(5, "Bergen", 30), 17, record(5, "Bergen", 31));
            assertThat(made.count(BY_CITY)).isZero();
            assertThat(made.count(BY_AGE)).isEqualTo(1);
        }
    }

    @Test
    void a_record_whose_key_is_too_long_has_no_entry_to_be_removed() {
        String tooLong = "x".repeat(1 << 16);
        try (DeferredAntimatter made = create(0)) {
            made.superseded(key(5), 10, record(5, tooLong, 30), 17, record(5, "Oslo", 30));
            assertThat(made.count(BY_CITY)).isZero();
            made.superseded(key(6), 10, record(6, "Oslo", 30), 18, record(6, tooLong, 30));
            assertThat(sorted(made, BY_CITY)).containsExactly(antimatter(BY_CITY, "Oslo", 6, 18));
        }
    }

    @Test
    void more_than_memory_holds_comes_out_in_the_same_order() {
        SplittableRandom random = new SplittableRandom(SEED);
        List<Row> expected = new ArrayList<>();
        try (DeferredAntimatter made = create(0)) {
            for (int i = 0; i < 20_000; i++) {
                String city = "city " + random.nextInt(1_000);
                made.superseded(key(i), 1, record(i, city, 1), 2 + i, new Slice());
                expected.add(antimatter(BY_CITY, city, i, 2 + i));
            }
            expected.sort(ListCursor.ORDER);
            assertThat(sorted(made, BY_CITY)).as("seed %d", SEED).isEqualTo(expected);
            assertThat(spilled.sum()).isPositive();
        }
    }

    @Test
    void the_same_pair_told_of_twice_is_one_entry() {
        try (DeferredAntimatter made = create(0)) {
            for (int i = 0; i < 2; i++) {
                made.superseded(key(5), 10, record(5, "Bergen", 30), 17, record(5, "Oslo", 31));
            }
            assertThat(sorted(made, BY_CITY)).hasSize(1);
        }
    }
}
