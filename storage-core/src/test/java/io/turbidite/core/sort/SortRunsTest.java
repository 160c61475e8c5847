package io.turbidite.core.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

class SortRunsTest {
    private static final long SEED = Seeds.of("SortRunsTest");
    private static final int BLOCK = 1_024;
    private static final String FIRST_RUN = "run-1";

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SplittableRandom random = new SplittableRandom(SEED);
    private final SpillStorage storage = new SpillStorage();

    @AfterEach
    void nothing_is_left() {
        disk.clearFaults();
        assertThat(disk.openHandles()).isEmpty();
        assertThat(disk.files()).isEmpty();
        assertThat(storage.takenCount).as("buffers").isZero();
    }

    @SuppressWarnings("ArrayRecordComponent") // compared by ORDER alone
    private record Row(byte[] key, long number, byte[] payload) {
        static final Comparator<Row> ORDER = Comparator.comparing(Row::key, Arrays::compareUnsigned)
                .thenComparingLong(Row::number);
    }

    /** Pieces of one size or of an entry's, counted; {@code takenMax} of them at a time. */
    private final class SpillStorage implements RunStorage, SortMemory {
        private int takenCount;
        private int takenMax = 8;
        private long lastNumber;
        private long writtenBytes;
        private long takenBytes;
        private long takenBytesMax;

        @Override
        public Disk disk() {
            return disk;
        }

        @Override
        public long ownerId() {
            return 77;
        }

        @Override
        public long newNumber() {
            return ++lastNumber;
        }

        @Override
        public String nameOf(long number) {
            return "run-" + number;
        }

        @Override
        public int blockBytes() {
            return BLOCK;
        }

        @Override
        public @Nullable MemorySegment take(long bytesMin) {
            return takenCount == takenMax ? null : takeBuffer(Math.max(BLOCK, bytesMin));
        }

        @Override
        public void give(MemorySegment piece) {
            giveBuffer(piece);
        }

        @Override
        public MemorySegment takeBuffer(long bytesMin) {
            takenCount++;
            takenBytes += bytesMin;
            takenBytesMax = Math.max(takenBytesMax, takenBytes);
            return Arena.ofAuto().allocate(bytesMin, 8).fill((byte) 0xDB);
        }

        @Override
        public void giveBuffer(MemorySegment buffer) {
            takenCount--;
            takenBytes -= buffer.byteSize();
            buffer.fill((byte) 0xDB);
        }

        @Override
        public void written(long bytes) {
            writtenBytes += bytes;
        }
    }

    /** Numbers are the order in which the rows come, but for those of one key, which are alike. */
    private List<Row> rows(int count) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] key = new byte[3 + random.nextInt(20)];
            Arrays.fill(key, (byte) 'k');
            for (int at = 3; at < key.length; at++) {
                key[at] = (byte) random.nextInt(2);
            }
            byte[] payload = new byte[random.nextInt(100) == 0 ? 3 * BLOCK : random.nextInt(40)];
            random.nextBytes(payload);
            rows.add(new Row(key, random.nextInt(1 << 20), payload));
        }
        return rows;
    }

    private void add(SortBuffer buffer, SortRuns runs, Row row) {
        Slice key = Slice.of(row.key);
        Slice payload = Slice.of(row.payload);
        if (buffer.add(key, row.number, payload) == SortBuffer.FULL) {
            try (SortedInput entries = buffer.sorted()) {
                runs.add(entries, Long.MAX_VALUE);
            }
            buffer.clear();
            assertThat(buffer.add(key, row.number, payload)).isZero();
        }
    }

    private static List<Row> read(SortedInput input) {
        List<Row> rows = new ArrayList<>();
        while (input.next()) {
            Row row = new Row(
                    input.key().toByteArray(), input.number(), input.payload().toByteArray());
            assertThat(row.key).hasSizeGreaterThanOrEqualTo(input.sharedBytes());
            rows.add(row);
        }
        assertThat(input.next()).isFalse();
        return rows;
    }

    private static void assertSame(List<Row> found, List<Row> expected) {
        assertThat(found)
                .usingElementComparator(Row.ORDER.thenComparing(Row::payload, Arrays::compare))
                .isEqualTo(expected);
    }

    private SortRuns runs() {
        return new SortRuns(storage, 3 * BLOCK, UnaryOperator.identity());
    }

    @Test
    void entries_come_back_in_order_through_passes_of_merging() {
        System.out.println(Seeds.replay("SortRunsTest", SEED));
        List<Row> rows = rows(3_000);
        try (SortRuns runs = runs();
                SortBuffer buffer = new SortBuffer(storage)) {
            rows.forEach(row -> add(buffer, runs, row));
            try (SortedInput entries = buffer.sorted()) {
                runs.add(entries, Long.MAX_VALUE);
            }
            buffer.clear();
            long before = runs.runCount();
            List<SortedInput> inputs = runs.inputs();
            // some of the runs have a large entry, which takes as much as three others
            assertThat(inputs).hasSizeBetween(2, 3);
            assertThat(runs.runCount()).isGreaterThan(before).isGreaterThan(20);
            assertThat(storage.writtenBytes).isEqualTo(runs.writtenBytes());
            assertSame(
                    read(SortedMerge.of(inputs)),
                    rows.stream().sorted(Row.ORDER).toList());
        }
    }

    @Test
    void runs_of_large_entries_are_merged_within_the_memory_there_is() {
        List<Row> rows = new ArrayList<>();
        long bytesMax = 20 * BLOCK;
        try (SortRuns runs = new SortRuns(storage, bytesMax, UnaryOperator.identity())) {
            for (int i = 0; i < 60; i++) {
                byte[] payload = new byte[(3 + i % 3) * BLOCK];
                random.nextBytes(payload);
                Row row = new Row(text("k%08d".formatted(i * 7_919 % 60)), i, payload);
                rows.add(row);
                runs.add(inputOf(List.of(row)), Long.MAX_VALUE);
            }
            // a block for each, and what its entry takes with its headers
            assertThat(runs.readBytesMax()).isBetween(60L * 5 * BLOCK, 60L * 6 * BLOCK);
            storage.takenBytesMax = 0;
            List<SortedInput> inputs = runs.inputs();
            assertSame(
                    read(SortedMerge.of(inputs)),
                    rows.stream().sorted(Row.ORDER).toList());
            // one more is the writer's, whatever entries are like
            assertThat(storage.takenBytesMax).isLessThanOrEqualTo(bytesMax + BLOCK);
            assertThat(inputs).hasSizeBetween(2, 4);
        }
    }

    @Test
    void equal_entries_of_a_buffer_stay_in_the_order_in_which_they_came() {
        storage.takenMax = Integer.MAX_VALUE;
        try (SortBuffer buffer = new SortBuffer(storage)) {
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                Slice key = Slice.of(text("k" + i % 3));
                assertThat(buffer.add(key, 0, Slice.of(text("" + i)))).isNotNegative();
            }
            for (int first = 0; first < 3; first++) {
                for (int i = first; i < 500; i += 3) {
                    expected.add("" + i);
                }
            }
            SortedInput entries = buffer.sorted();
            List<String> found = new ArrayList<>();
            while (entries.next()) {
                found.add(entries.payload().toUtf8());
            }
            assertThat(found).isEqualTo(expected);
        }
    }

    @Test
    void an_entry_is_found_by_its_address_and_its_number_changed() {
        storage.takenMax = Integer.MAX_VALUE;
        List<Row> rows = rows(300);
        try (SortBuffer buffer = new SortBuffer(storage)) {
            List<Long> addresses = new ArrayList<>();
            for (Row row : rows) {
                addresses.add(buffer.add(Slice.of(row.key), row.number, Slice.of(row.payload)));
            }
            assertThat(buffer.count()).isEqualTo(rows.size());
            long walked = SortBuffer.FIRST;
            for (long address : addresses) {
                assertThat(walked).isEqualTo(address);
                walked = buffer.addressBehind(walked);
            }
            assertThat(walked).isEqualTo(SortBuffer.NONE);
            Slice key = new Slice();
            for (int i = 0; i < rows.size(); i++) {
                long address = addresses.get(i);
                assertThat(buffer.key(address, key).toByteArray()).isEqualTo(rows.get(i).key);
                assertThat(buffer.number(address)).isEqualTo(rows.get(i).number);
                buffer.setNumber(address, -i);
                assertThat(buffer.number(address)).isEqualTo(-i);
            }
        }
    }

    @Test
    void files_of_others_are_left_alone() {
        disk.put("run-1", new byte[1]);
        disk.put("run-3", new byte[1]);
        try (SortRuns runs = runs()) {
            for (int i = 0; i < 2; i++) {
                runs.add(inputOf(rows(3)), Long.MAX_VALUE);
            }
            assertThat(disk.files()).containsExactlyInAnyOrder("run-1", "run-2", "run-3", "run-4");
        }
        assertThat(disk.files()).containsExactlyInAnyOrder("run-1", "run-3");
        disk.delete("run-1");
        disk.delete("run-3");
    }

    /** Sorted rows as an input; their memory is the collector's. */
    private static SortedInput inputOf(List<Row> rows) {
        SortBlock block = new SortBlock(Arena.ofAuto().allocate(1 << 20));
        for (Row row : rows) {
            Slice payload = Slice.of(row.payload);
            Slice key = Slice.of(row.key);
            assertThat(block.add(key, row.number, payload, EntryFormat.bytes(key, payload)))
                    .isNotNegative();
        }
        block.sort(new SortBlock.Scratch());
        return block.input();
    }

    @Test
    void what_fails_leaves_no_run_and_may_be_tried_again() {
        List<Row> rows = rows(100);
        for (OperationKind kind : List.of(
                OperationKind.CREATE,
                OperationKind.OPEN,
                OperationKind.READ,
                OperationKind.WRITE)) {
            try (SortRuns runs = runs()) {
                for (int call = 1; call <= 4; call++) {
                    disk.fault(FaultScript.with(Fault.EIO).on(kind).call(call));
                    try {
                        runs.add(inputOf(rows), Long.MAX_VALUE);
                        read(SortedMerge.of(runs.inputs()));
                    } catch (StorageIoException failed) {
                        assertThat(disk.files()).hasSizeLessThan(call + 1);
                    }
                    disk.clearFaults();
                }
                int there = disk.files().size();
                assertThat(read(SortedMerge.of(runs.inputs())))
                        .hasSizeGreaterThanOrEqualTo(there * rows.size());
            }
            assertThat(disk.files()).isEmpty();
        }
    }

    @Test
    void a_file_that_cannot_be_deleted_is_told_at_the_end_and_deleted_once_that_is_possible() {
        SortRuns runs = runs();
        runs.add(inputOf(rows(3)), Long.MAX_VALUE);
        runs.add(inputOf(rows(3)), Long.MAX_VALUE);
        disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.DELETE).call(1));
        assertThatThrownBy(runs::close).isInstanceOf(StorageIoException.class);
        assertThat(disk.files()).containsExactly(FIRST_RUN);
        runs.close();
    }

    @Test
    void every_flipped_bit_and_every_cut_is_found_out() {
        List<Row> rows = rows(60).stream().sorted(Row.ORDER).toList();
        try (SortRuns runs = runs()) {
            runs.add(inputOf(rows), Long.MAX_VALUE);
            byte[] sound = disk.content(FIRST_RUN);
            for (int at = 0; at < sound.length; at++) {
                byte[] damaged = sound.clone();
                damaged[at] ^= (byte) (1 << random.nextInt(8));
                assertFoundOut(runs, rows, damaged, "byte " + at);
                if (at % 7 == 0) {
                    assertFoundOut(runs, rows, Arrays.copyOf(sound, at), "cut at " + at);
                }
            }
            disk.put(FIRST_RUN, sound);
            assertSame(read(runs.inputs().getFirst()), rows);
        }
    }

    private void assertFoundOut(SortRuns runs, List<Row> rows, byte[] damaged, String what) {
        disk.put(FIRST_RUN, damaged);
        assertThatThrownBy(() -> {
                    SortedInput entries = runs.inputs().getFirst();
                    int index = 0;
                    while (entries.next()) {
                        // nothing wrong may come before the damage is noticed
                        assertThat(entries.key().toByteArray()).isEqualTo(rows.get(index++).key);
                    }
                })
                .as(what)
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining(FIRST_RUN);
    }

    @Test
    void a_newer_format_is_named() {
        try (SortRuns runs = runs()) {
            runs.add(inputOf(rows(3)), Long.MAX_VALUE);
            byte[] newer = disk.content(FIRST_RUN);
            new FileHeader(RunFormat.FORMAT, RunFormat.VERSION + 1, 0, 77, 1)
                    .write(MemorySegment.ofArray(newer), 0);
            disk.put(FIRST_RUN, newer);
            assertThatThrownBy(runs::inputs).isInstanceOf(FormatVersionException.class);
        }
    }

    /** The descriptors' tables, byte by byte. */
    @Test
    void the_format_is_what_the_descriptor_says() {
        try (SortRuns runs = runs()) {
            runs.add(
                    inputOf(List.of(
                            new Row(text("ab"), 5, text("xyz")), new Row(text("b"), 13, text("")))),
                    Long.MAX_VALUE);
            String file = HexFormat.of().formatHex(disk.content(FIRST_RUN));
            String block = "00000000" // number
                    + "0100000000000000" // fileId
                    + "26000000" // payloadBytes
                    + "02000000" // entryCount
                    + "02000000" + "03000000" + "0500000000000000" + "6162" + "78797a"
                    + "01000000" + "00000000" + "0d00000000000000" + "62";
            int at = 2 * FileHeader.BYTES;
            assertThat(file.substring(at + 8)).isEqualTo(block);
            assertThat(file.substring(at, at + 8)).as("golden checksum").isEqualTo("46c9891d");
        }
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
