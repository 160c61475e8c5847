package io.turbidite.hashlog.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.registry.HistoryRun;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;

class RunFileTest {
    private static final long SEED = Seeds.of("RunFileTest");
    private static final String NAME = "log/00000001.run";
    private static final long LOG_ID = 7;
    private static final int PSF = 3;

    private final MemoryBudget budget = MemoryBudget.of(1 << 20);

    private SimDisk written(long... hashes) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        disk.createDirectories("log");
        try (RunEntries entries = new RunEntries(budget.account("test"), 4_096)) {
            long address = 64;
            for (long hash : hashes) {
                assertThat(entries.add(hash, address)).isTrue();
                address += 32;
            }
            assertThat(new Runs(disk, "log", LOG_ID).write(PSF, 64, address, entries))
                    .isEqualTo(run(hashes.length));
        }
        return disk;
    }

    private static HistoryRun run(int count) {
        return new HistoryRun(1, 64, 64 + 32L * count);
    }

    private static List<Long> find(SimDisk disk, int count, long hash, long from, long to) {
        List<Long> found = new ArrayList<>();
        try (RunCursor cursor =
                new Runs(disk, "log", LOG_ID).cursor(PSF, run(count), hash, from, to)) {
            while (cursor.next()) {
                found.add(cursor.address());
            }
        }
        return found;
    }

    private static void readAll(SimDisk disk, int count) {
        try (RunFile file = RunFile.of(disk.openReadOnly(NAME), LOG_ID, run(count), PSF)) {
            for (long i = 0; i < file.entryCount(); i++) {
                assertThat(file.hash(i)).isEqualTo(file.hash(i));
            }
        }
    }

    @Test
    void each_hash_has_its_addresses_newest_first() {
        SplittableRandom random = new SplittableRandom(SEED);
        long[] hashes = new long[3_000];
        TreeMap<Long, List<Long>> expected = new TreeMap<>();
        for (int i = 0; i < hashes.length; i++) {
            // a hash of a third of all, some of several blocks' edges, and many that are rare
            hashes[i] = switch (random.nextInt(3)) {
                case 0 -> -5;
                case 1 -> (random.nextInt(4) - 2L) << 60;
                default -> random.nextLong() & 0xFF00_0000_0000_00FFL;
            };
            expected.computeIfAbsent(hashes[i], h -> new ArrayList<>()).addFirst(64 + 32L * i);
        }
        SimDisk disk = written(hashes);
        expected.forEach((hash, addresses) -> {
            assertThat(find(disk, hashes.length, hash, 0, Long.MAX_VALUE)).isEqualTo(addresses);
            long from = 64 + random.nextLong(90_000);
            long to = from + random.nextLong(30_000);
            assertThat(find(disk, hashes.length, hash, from, to))
                    .isEqualTo(
                            addresses.stream().filter(a -> a >= from && a < to).toList());
        });
        assertThat(find(disk, hashes.length, 12345, 0, Long.MAX_VALUE)).isEmpty();
        assertThat(budget.bytesUsed()).isZero();
    }

    @Test
    void entries_have_bounds() {
        try (RunEntries entries = new RunEntries(budget.account("test"), 2)) {
            assertThat(entries.add(1, 1) && entries.add(1, 2)).isTrue();
            assertThat(entries.add(1, 3)).isFalse();
        }
        assertThatThrownBy(() -> new RunEntries(budget.account("test"), 1 << 20))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("memory budget");
    }

    @Test
    void the_bytes_are_pinned() {
        byte[] bytes = written(9, -1, 9).content(NAME);
        assertThat(bytes).hasSize(2 * RunFile.BLOCK_BYTES + 64);
        String text = HexFormat.of().formatHex(bytes);
        // the rest of the head, and of the block, are zeros
        assertThat(text.substring(0, 192) + text.substring(8_192, 8_320) + text.substring(16_384))
                .isEqualTo("5455524249444954686173686c6f672d72756e00000000000100000000000000"
                        + "07000000000000000100000000000000000000000000000000000000b7094f31"
                        + "4000000000000000a00000000000000003000000000000000300000000000000"
                        + "24c87b7f03000000090000000000000040000000000000000900000000000000"
                        + "8000000000000000ffffffffffffffff60000000000000000000000000000000"
                        + "4000000000000000c00f00000000000007000000000000000100000000000000"
                        + "84cf7766000000000000000000000000000000000bdb14f154555242464f4f54");
    }

    @Test
    void every_flipped_bit_and_every_cut_is_noticed() {
        long[] hashes = new long[300];
        Arrays.setAll(hashes, i -> i * 77L);
        SimDisk disk = written(hashes);
        int size = disk.content(NAME).length;
        for (int at = 0; at < size; at++) {
            SimDisk damaged = disk.copy();
            damaged.flipBit(NAME, at, at % 8);
            assertThatThrownBy(() -> readAll(damaged, hashes.length))
                    .as("byte %d", at)
                    .isInstanceOfAny(CorruptionException.class, FormatVersionException.class);
        }
        for (int cut = 0; cut < size; cut += cut < 300 ? 1 : 97) {
            SimDisk shorter = disk.copy();
            try (DiskFile file = shorter.open(NAME)) {
                file.truncate(cut);
            }
            assertThatThrownBy(() -> readAll(shorter, hashes.length))
                    .as("cut at %d", cut)
                    .isInstanceOf(CorruptionException.class);
        }
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void a_file_of_another_run_or_log_is_refused() {
        SimDisk disk = written(1, 2);
        for (HistoryRun other : List.of(
                new HistoryRun(2, 64, 128),
                new HistoryRun(1, 64, 96),
                new HistoryRun(1, 32, 128))) {
            assertThatThrownBy(() -> RunFile.of(disk.openReadOnly(NAME), LOG_ID, other, PSF))
                    .isInstanceOf(CorruptionException.class);
        }
        assertThatThrownBy(() -> RunFile.of(disk.openReadOnly(NAME), LOG_ID + 1, run(2), PSF))
                .isInstanceOf(CorruptionException.class);
        assertThatThrownBy(() -> RunFile.of(disk.openReadOnly(NAME), LOG_ID, run(2), PSF + 1))
                .isInstanceOf(CorruptionException.class);
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void a_newer_version_is_refused_by_name() {
        SimDisk disk = written(1);
        byte[] bytes = disk.content(NAME);
        new FileHeader(RunFile.FORMAT, RunFile.VERSION + 1, 0, LOG_ID, 1)
                .write(MemorySegment.ofArray(bytes), 0);
        disk.put(NAME, bytes);
        assertThatThrownBy(() -> readAll(disk, 1))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("version 2");
    }

    @Test
    void offsets_are_those_of_the_table() {
        assertThat(RunFile.FROM_OFFSET).isEqualTo(64);
        assertThat(RunFile.TO_OFFSET).isEqualTo(72);
        assertThat(RunFile.ENTRY_COUNT_OFFSET).isEqualTo(80);
        assertThat(RunFile.PSF_OFFSET).isEqualTo(88);
        assertThat(RunFile.ZERO_OFFSET).isEqualTo(92);
        assertThat(RunFile.ENTRIES_OFFSET).isEqualTo(8);
        assertThat(RunFile.BLOCK_ENTRY_COUNT).isEqualTo(255);
    }
}
