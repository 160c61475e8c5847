package io.turbidite.lsm.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ListCursor;
import io.turbidite.lsm.entry.ListCursor.Row;
import io.turbidite.lsm.memory.TestChunks;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

class EntrySortTest {
    private static final int CHUNK = 64 << 10;
    private static final long STORE = 77;
    private static final long SEED = Seeds.of("EntrySortTest");

    /** Two lengths and a number before each key. */
    private static final int ENTRY_HEADER_BYTES = 16;

    private static final String FIRST_RUN = "data/000000000001.run";

    private final TestChunks chunks = new TestChunks(CHUNK);
    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SplittableRandom random = new SplittableRandom(SEED);
    private final Counter spilled = new Meters().counter("spilled");
    private final SortStorage storage = storage(disk, STORE);

    private SortStorage storage(SimDisk onDisk, long storeId) {
        onDisk.createDirectories("data");
        return new SortStorage(
                onDisk,
                chunks,
                storeId,
                new AtomicLong()::incrementAndGet,
                StoreFiles::sortRun,
                spilled);
    }

    @AfterEach
    void nothing_is_left() {
        assertThat(chunks.taken()).as("chunks").isZero();
        assertThat(disk.openHandles()).isEmpty();
        assertThat(disk.files()).isEmpty();
        chunks.close();
    }

    /** Entries with few enough keys that some come again; timestamps are all different. */
    private List<Row> rows(int count, int keyCount, int valueBytesMax) {
        List<Row> rows = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            byte[] key = new byte[random.nextInt(1, 20)];
            new SplittableRandom(random.nextInt(keyCount)).nextBytes(key);
            boolean antimatter = random.nextInt(10) == 0;
            byte[] value = new byte[antimatter ? 0 : random.nextInt(valueBytesMax)];
            random.nextBytes(value);
            rows.add(new Row(key, i, antimatter, value));
        }
        for (int i = rows.size() - 1; i > 0; i--) {
            rows.set(i, rows.set(random.nextInt(i + 1), rows.get(i)));
        }
        return rows;
    }

    private static List<Row> newest(List<Row> rows) {
        List<Row> kept = new ArrayList<>();
        for (Row row : rows.stream().sorted(ListCursor.ORDER).toList()) {
            if (kept.isEmpty() || !Arrays.equals(kept.getLast().key(), row.key())) {
                kept.add(row);
            }
        }
        return kept;
    }

    private static void add(EntrySort sort, Row row) {
        sort.add(Slice.of(row.key()), row.timestamp(), row.antimatter(), Slice.of(row.value()));
    }

    private static void check(EntryStream stream, List<Row> expected) {
        for (Row row : expected) {
            assertThat(stream.next()).isTrue();
            assertThat(stream.key().toByteArray()).isEqualTo(row.key());
            assertThat(stream.timestamp()).isEqualTo(row.timestamp());
            assertThat(stream.isAntimatter()).isEqualTo(row.antimatter());
            assertThat(stream.value().toByteArray()).isEqualTo(row.value());
        }
        assertThat(stream.next()).isFalse();
        assertThat(stream.next()).isFalse();
    }

    /** Runs are of about 3 chunks, and 3 are merged at a time. */
    @ParameterizedTest
    @CsvSource({"0, 0", "1, 0", "500, 0", "4000, 3", "30000, 20"})
    void what_goes_in_comes_out_in_order(int count, int runsMin) {
        System.out.println(Seeds.replay("EntrySortTest", SEED));
        List<Row> rows = rows(count, 1 + count / 2, 200);
        try (EntrySort keep = EntrySort.create(storage, 1, new Duplicates.Keep());
                EntrySort newest = EntrySort.create(storage, 4 * CHUNK, new Duplicates.Newest())) {
            for (Row row : rows) {
                add(keep, row);
                add(newest, row);
                assertThat(chunks.taken()).isLessThanOrEqualTo(2 * 4);
            }
            assertThat(keep.entryCount()).isEqualTo(count);
            try (EntryStream all = keep.sorted();
                    EntryStream some = newest.sorted()) {
                assertThat(chunks.taken()).isLessThanOrEqualTo(2 * 4);
                check(all, rows.stream().sorted(ListCursor.ORDER).toList());
                check(some, newest(rows));
            }
            assertThat(keep.runCount()).isGreaterThanOrEqualTo(runsMin);
            assertThat(keep.runCount() == 0).isEqualTo(runsMin == 0);
            assertThat(newest.spilledBytes()).isLessThanOrEqualTo(keep.spilledBytes());
        }
    }

    @Test
    void most_entries_are_written_once_and_merged_runs_are_few() {
        List<Row> rows = rows(30_000, 1 << 20, 200);
        long bytes = rows.stream()
                .mapToLong(row -> ENTRY_HEADER_BYTES + row.key().length + row.value().length)
                .sum();
        try (EntrySort sort = EntrySort.create(storage, 16 * CHUNK, new Duplicates.Keep())) {
            rows.forEach(row -> add(sort, row));
            sort.sorted().close();
            // fewer runs than there are buffers: each byte once, and the blocks' headers
            assertThat(sort.runCount()).isBetween(3L, 14L);
            assertThat((double) sort.spilledBytes()).isBetween(1.0 * bytes, 1.02 * bytes);
            assertThat(disk.files()).hasSize((int) sort.runCount());
            assertThat(spilled.sum()).isEqualTo(sort.spilledBytes());
        }
    }

    @Test
    void entries_larger_than_a_chunk_are_sorted_too() {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            byte[] value = new byte[random.nextInt(3 * CHUNK)];
            random.nextBytes(value);
            rows.add(new Row(new byte[] {(byte) random.nextInt(4), (byte) i}, i, false, value));
        }
        try (EntrySort sort = EntrySort.create(storage, 4 * CHUNK, new Duplicates.Keep())) {
            rows.forEach(row -> add(sort, row));
            check(sort.sorted(), rows.stream().sorted(ListCursor.ORDER).toList());
            assertThat(sort.runCount()).isGreaterThan(4);
        }
    }

    @Test
    void the_same_entry_twice_counts_once() {
        List<Row> rows = rows(3_000, 1 << 20, 200);
        try (EntrySort sort = EntrySort.create(storage, 4 * CHUNK, new Duplicates.Keep())) {
            rows.forEach(row -> add(sort, row));
            rows.forEach(row -> add(sort, row));
            check(sort.sorted(), rows.stream().sorted(ListCursor.ORDER).toList());
        }
    }

    @Test
    void a_key_that_comes_twice_is_refused_wherever_the_two_met() {
        Duplicates refuse =
                new Duplicates.Refuse(key -> new DuplicateKeyException("T", key.byteAt(0) + ""));
        for (int distance : new int[] {1, 10_000}) {
            try (EntrySort sort = EntrySort.create(storage, 4 * CHUNK, refuse)) {
                assertThatThrownBy(() -> {
                            for (int i = 0; i <= distance; i++) {
                                int number = i % distance;
                                byte[] key = {9, (byte) (number >> 8), (byte) number};
                                add(sort, new Row(key, i, false, new byte[100]));
                            }
                            EntryStream entries = sort.sorted();
                            while (entries.next()) {
                                assertThat(entries.key().length()).isEqualTo(3);
                            }
                        })
                        .isInstanceOf(DuplicateKeyException.class)
                        .hasMessageContaining("9");
            }
        }
    }

    @Test
    void wrong_use_is_refused() {
        EntrySort sort = EntrySort.create(storage, 4 * CHUNK, new Duplicates.Keep());
        Slice key = Slice.of(new byte[1]);
        assertThatThrownBy(() ->
                        sort.add(key, 1, false, Slice.of(new byte[Limits.RECORD_BYTES_MAX + 1])))
                .isInstanceOf(InvalidRequestException.class);
        sort.add(key, 1, false, key);
        EntryStream entries = sort.sorted();
        assertThatThrownBy(() -> sort.add(key, 2, false, key))
                .isInstanceOf(IllegalStateException.class);
        check(entries, List.of(new Row(new byte[1], 1, false, new byte[1])));
        sort.close();
        sort.close();
        assertThatThrownBy(sort::sorted).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> sort.add(key, 2, false, key)).isInstanceOf(ClosedException.class);
    }

    /** R8: each call fails once; who asks again gets all entries. */
    @ParameterizedTest
    @EnumSource(Fault.class)
    void a_failed_call_loses_nothing(Fault fault) {
        List<Row> rows = rows(4_000, 1 << 20, 300);
        List<Row> expected = rows.stream().sorted(ListCursor.ORDER).toList();
        int failures = 0;
        FaultScript script;
        int call = 1;
        do {
            script = disk.fault(FaultScript.with(fault)
                    .on(
                            OperationKind.CREATE,
                            OperationKind.OPEN,
                            OperationKind.READ,
                            OperationKind.WRITE)
                    .call(call++));
            try (EntrySort sort = EntrySort.create(storage, 4 * CHUNK, new Duplicates.Keep())) {
                for (Row row : rows) {
                    try {
                        add(sort, row);
                    } catch (StorageIoException failed) {
                        failures++;
                        add(sort, row);
                    }
                }
                try {
                    check(sort.sorted(), expected);
                } catch (StorageIoException failed) {
                    failures++;
                    check(sort.sorted(), expected);
                }
            }
            assertThat(disk.files()).isEmpty();
            assertThat(chunks.taken()).isZero();
            disk.clearFaults();
        } while (script.hitCount() > 0);
        System.out.printf("%s: %d calls failed%n", fault, failures);
        assertThat(failures).isEqualTo(call - 2).isGreaterThan(20);
    }

    @Test
    void a_full_disk_refuses_entries_until_there_is_space() {
        List<Row> rows = rows(4_000, 1 << 20, 300);
        disk.capacity(256 << 10);
        try (EntrySort sort = EntrySort.create(storage, 4 * CHUNK, new Duplicates.Keep())) {
            int refused = 0;
            for (Row row : rows) {
                try {
                    add(sort, row);
                } catch (StorageIoException full) {
                    assertThat(full.kind()).isEqualTo(StorageIoException.Kind.NO_SPACE);
                    refused++;
                    disk.capacity(4 << 20);
                    add(sort, row);
                }
            }
            assertThat(refused).isEqualTo(1);
            check(sort.sorted(), rows.stream().sorted(ListCursor.ORDER).toList());
        }
    }

    /** Two runs, the first of which is to be damaged; reading may be tried again and again. */
    private EntrySort spilled(SortStorage where) {
        EntrySort sort = EntrySort.create(where, 4 * CHUNK, new Duplicates.Keep());
        for (Row row : rows(2_000, 1 << 20, 200)) {
            add(sort, row);
        }
        sort.sorted().close();
        assertThat(sort.runCount()).isGreaterThanOrEqualTo(2);
        return sort;
    }

    private static long readAll(EntrySort sort) {
        long count = 0;
        try (EntryStream entries = sort.sorted()) {
            while (entries.next()) {
                count++;
            }
        }
        return count;
    }

    private void assertFoundOut(EntrySort sort, byte[] damaged, String what) {
        disk.put(FIRST_RUN, damaged);
        assertThatThrownBy(() -> readAll(sort))
                .as(what)
                .isInstanceOfAny(CorruptionException.class)
                .hasMessageContaining(FIRST_RUN);
    }

    @Test
    void a_flipped_bit_a_cut_and_a_foreign_file_are_found_out() {
        try (EntrySort sort = spilled(storage)) {
            byte[] sound = disk.content(FIRST_RUN);
            int step = Tier.count(809, 101, 1);
            for (int at = 0; at < sound.length; at++) {
                boolean dense = at < 2 * FileHeader.BYTES || at >= sound.length - 64;
                if (dense || at % step == 0) {
                    byte[] damaged = sound.clone();
                    damaged[at] ^= (byte) (1 << random.nextInt(8));
                    assertFoundOut(sort, damaged, "byte " + at);
                }
            }
            for (int length = 0; length < sound.length; length += 997) {
                assertFoundOut(sort, Arrays.copyOf(sound, length), "cut at " + length);
            }
            assertFoundOut(sort, Arrays.copyOf(sound, sound.length + 64), "more behind it");
            assertFoundOut(sort, disk.content("data/000000000002.run"), "the other run");

            SimDisk other = new SimDisk(SEED, Profile.STRICT);
            try (EntrySort foreign = spilled(storage(other, STORE + 1))) {
                assertThat(foreign.runCount()).isPositive();
                assertFoundOut(sort, other.content(FIRST_RUN), "another store's");
            }
            disk.put(FIRST_RUN, sound);
            assertThat(readAll(sort)).isEqualTo(2_000);
        }
    }
}
