package io.turbidite.lsm.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ListCursor;
import io.turbidite.lsm.entry.ListCursor.Row;
import io.turbidite.lsm.memory.TestChunks;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The sort beside that of {@code java.util}: keys, duplicates, sizes, budgets and failures by
 * chance.
 */
class EntrySortModelTest {
    private static final long SEED = Seeds.of("EntrySortModelTest");
    private static final int CHUNK = 64 << 10;
    private static final int HISTORIES = 150;

    /** How the keys of a history look. */
    private enum Keys {
        /** Of any bytes, the shorter ones beginnings of the longer ones. */
        SHORT,
        /** All begin alike, further than is compared at once. */
        ALIKE,
        /** Numbers, as primary keys are encoded. */
        NUMBERS,
        /** A few only, so that their versions are many. */
        FEW
    }

    private static byte[] key(SplittableRandom random, Keys kind) {
        return switch (kind) {
            case SHORT -> {
                byte[] key = new byte[random.nextInt(6)];
                for (int i = 0; i < key.length; i++) {
                    key[i] = (byte) (random.nextInt(3) - 1);
                }
                yield key;
            }
            case ALIKE -> {
                byte[] key = new byte[20 + random.nextInt(14)];
                Arrays.fill(key, (byte) 'c');
                for (int i = 19; i < key.length; i++) {
                    key[i] = (byte) random.nextInt(2);
                }
                yield key;
            }
            case NUMBERS -> {
                byte[] key = new byte[9];
                random.nextBytes(key);
                key[0] = (byte) 0x88;
                yield key;
            }
            case FEW -> new byte[] {(byte) random.nextInt(5), 1, 2, 3, 4, 5, 6, 7, 8, 9};
        };
    }

    private static List<Row> history(SplittableRandom random) {
        Keys kind = Keys.values()[random.nextInt(Keys.values().length)];
        int count = random.nextInt(10) == 0 ? random.nextInt(3) : random.nextInt(5_000);
        int valueBytesMax = random.nextBoolean() ? 9 : 150;
        List<Row> rows = new ArrayList<>();
        List<Row> matter = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean large = random.nextInt(2_000) == 0;
            byte[] value = new byte[large ? 2 * CHUNK : random.nextInt(valueBytesMax)];
            random.nextBytes(value);
            long timestamp = ((long) random.nextInt(1 << 20) << 13) + i;
            Row row = new Row(key(random, kind), timestamp, false, value);
            matter.add(row);
            rows.add(row);
            if (random.nextInt(20) == 0) {
                // the same once more, sometimes as its own anti-matter: that is hidden
                Row same = matter.get(random.nextInt(matter.size()));
                boolean antimatter = random.nextBoolean();
                rows.add(new Row(
                        same.key(),
                        same.timestamp(),
                        antimatter,
                        antimatter ? new byte[0] : same.value()));
            }
        }
        return rows;
    }

    /** What comes out: one of each key and timestamp, matter if there is any. */
    private static List<Row> model(List<Row> rows, boolean newestOnly) {
        List<Row> sorted = new ArrayList<>(rows);
        sorted.sort(ListCursor.ORDER);
        TreeMap<byte[], TreeMap<Long, Row>> byKey = new TreeMap<>(Arrays::compareUnsigned);
        for (Row row : sorted) {
            byKey.computeIfAbsent(row.key(), key -> new TreeMap<>())
                    .merge(row.timestamp(), row, (a, b) -> a.antimatter() ? b : a);
        }
        List<Row> expected = new ArrayList<>();
        for (TreeMap<Long, Row> versions : byKey.values()) {
            expected.addAll(
                    newestOnly
                            ? List.of(versions.lastEntry().getValue())
                            : versions.descendingMap().values());
        }
        return expected;
    }

    private static void check(EntryStream stream, List<Row> expected) {
        int at = 0;
        for (Row row : expected) {
            assertThat(stream.next()).as("entry %d", at++).isTrue();
            assertThat(stream.key().toByteArray()).isEqualTo(row.key());
            assertThat(stream.timestamp()).isEqualTo(row.timestamp());
            assertThat(stream.isAntimatter()).isEqualTo(row.antimatter());
            assertThat(stream.value().toByteArray()).isEqualTo(row.value());
        }
        assertThat(stream.next()).isFalse();
    }

    private static void add(EntrySort sort, Row row) {
        sort.add(Slice.of(row.key()), row.timestamp(), row.antimatter(), Slice.of(row.value()));
    }

    private static SortStorage storage(SimDisk disk, TestChunks chunks) {
        disk.createDirectories("data");
        return new SortStorage(
                disk,
                chunks,
                1,
                new AtomicLong()::incrementAndGet,
                StoreFiles::sortRun,
                new Meters().counter("spilled"));
    }

    /** Each history in memory and spilled; in every third one calls of the disk fail. */
    @Test
    void histories_come_out_as_the_sort_of_java_has_them() {
        System.out.println(Seeds.replay("EntrySortModelTest", SEED));
        SplittableRandom random = new SplittableRandom(SEED);
        long spilled = 0;
        int failed = 0;
        for (int history = 0; history < HISTORIES; history++) {
            List<Row> rows = history(random);
            boolean newestOnly = random.nextBoolean();
            Duplicates duplicates = newestOnly ? new Duplicates.Newest() : new Duplicates.Keep();
            List<Row> expected = model(rows, newestOnly);
            for (long budget : new long[] {1, (1 + random.nextInt(20)) * (long) CHUNK, 1L << 30}) {
                SimDisk disk = new SimDisk(SEED + history, Profile.STRICT);
                TestChunks chunks = new TestChunks(CHUNK);
                if (history % 3 == 0) {
                    disk.fault(FaultScript.with(Fault.EIO)
                            .on(OperationKind.CREATE, OperationKind.WRITE, OperationKind.READ)
                            .call(1 + random.nextInt(40)));
                }
                try (EntrySort sort = EntrySort.create(storage(disk, chunks), budget, duplicates)) {
                    for (Row row : rows) {
                        try {
                            add(sort, row);
                        } catch (StorageIoException refused) {
                            failed++;
                            add(sort, row);
                        }
                    }
                    try {
                        check(sort.sorted(), expected);
                    } catch (StorageIoException refused) {
                        failed++;
                        check(sort.sorted(), expected);
                    }
                    assertThat(sort.entryCount()).isEqualTo(rows.size());
                    assertThat(sort.runCount() == 0 || budget < 1L << 30).isTrue();
                    spilled += sort.runCount();
                }
                assertThat(chunks.taken()).isZero();
                assertThat(disk.files()).isEmpty();
                chunks.close();
            }
        }
        System.out.printf("%d runs, %d failed calls%n", spilled, failed);
        assertThat(spilled).isGreaterThan(HISTORIES);
        assertThat(failed).isPositive();
    }

    /**
     * The budget of the store is used up by others: what was added stays, and goes on when there is
     * some.
     */
    @Test
    void an_entry_without_memory_is_refused_and_nothing_is_lost() {
        SplittableRandom random = new SplittableRandom(SEED);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 6_000; i++) {
            rows.add(new Row(key(random, Keys.NUMBERS), i, false, new byte[40]));
        }
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        for (int chunksMax = 0; chunksMax < 6; chunksMax++) {
            TestChunks chunks = TestChunks.atMost(CHUNK, chunksMax);
            try (EntrySort sort =
                    EntrySort.create(storage(disk, chunks), 5 * CHUNK, new Duplicates.Keep())) {
                int refused = 0;
                for (Row row : rows) {
                    try {
                        add(sort, row);
                    } catch (IllegalStateException none) {
                        refused++;
                        chunks.allow(6);
                        add(sort, row);
                    }
                }
                assertThat(refused).isEqualTo(chunksMax < 5 ? 1 : 0);
                check(sort.sorted(), model(rows, false));
                assertThat(sort.runCount()).isPositive();
            }
            assertThat(chunks.taken()).isZero();
            chunks.close();
        }
        assertThat(disk.files()).isEmpty();
    }

    @Test
    void what_is_too_long_to_be_sorted_is_refused() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        TestChunks chunks = new TestChunks(CHUNK);
        try (EntrySort sort = EntrySort.create(storage(disk, chunks), 1, new Duplicates.Keep())) {
            Slice longest = Slice.of(new byte[EntrySort.KEY_BYTES_MAX]);
            sort.add(longest, 1, false, new Slice());
            Slice longer = Slice.of(new byte[EntrySort.KEY_BYTES_MAX + 1]);
            assertThatThrownBy(() -> sort.add(longer, 1, false, new Slice()))
                    .isInstanceOf(io.turbidite.core.InvalidRequestException.class)
                    .hasMessageContaining("a key of 16384 bytes");
            check(sort.sorted(), List.of(new Row(longest.toByteArray(), 1, false, new byte[0])));
        }
        chunks.close();
    }
}
