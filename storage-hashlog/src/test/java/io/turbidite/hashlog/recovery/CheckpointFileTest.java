package io.turbidite.hashlog.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;

class CheckpointFileTest {
    private static final long SEED = Seeds.of("CheckpointFileTest");
    private static final int COUNT = CheckpointFile.WORD_COUNT_MAX + 40;

    private static SimDisk written(int count) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (DiskFile file = disk.create("c")) {
            CheckpointFile.Writer out = new CheckpointFile.Writer(file, 7, 3);
            for (int i = 0; i < count; i++) {
                out.word(i * 1_000_003L);
            }
            out.text("größe");
            assertThat(out.finish()).isEqualTo(file.size());
        }
        return disk;
    }

    private static void read(SimDisk disk, int count) {
        try (DiskFile file = disk.openReadOnly("c")) {
            CheckpointFile.Reader in = new CheckpointFile.Reader(file, 7, 3);
            for (int i = 0; i < count; i++) {
                assertThat(in.word()).isEqualTo(i * 1_000_003L);
            }
            assertThat(in.text(16)).isEqualTo("größe");
            in.finish();
        }
    }

    @Test
    void words_and_texts_read_back_over_blocks() {
        read(written(0), 0);
        read(written(COUNT), COUNT);
    }

    @Test
    void the_bytes_are_pinned() {
        byte[] bytes = written(2).content("c");
        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo("5455524249444954686173686c6f672d696e6465780000000100000000000000"
                        + "07000000000000000300000000000000000000000000000000000000af06cd4f"
                        + "0400000094ddb98e000000000000000043420f00000000000700000000000000"
                        + "6772c3b6c39f6500400000000000000028000000000000000700000000000000"
                        + "03000000000000000d435e11000000000000000000000000000000005f5123d7"
                        + "54555242464f4f54");
    }

    @Test
    void every_flipped_bit_and_every_cut_is_noticed() {
        SimDisk disk = written(COUNT);
        int size = disk.content("c").length;
        for (int at = 0; at < size; at += at < 200 || at > size - 500 ? 1 : 997) {
            SimDisk damaged = disk.copy();
            damaged.flipBit("c", at, at % 8);
            assertThatThrownBy(() -> read(damaged, COUNT))
                    .as("byte %d", at)
                    .isInstanceOf(CorruptionException.class);
        }
        for (int cut = 0; cut < size; cut += cut < 300 ? 1 : 991) {
            SimDisk shorter = disk.copy();
            try (DiskFile file = shorter.open("c")) {
                file.truncate(cut);
            }
            assertThatThrownBy(() -> read(shorter, COUNT))
                    .as("cut at %d", cut)
                    .isInstanceOf(CorruptionException.class);
        }
    }

    @Test
    void a_newer_version_is_refused_by_name() {
        SimDisk disk = written(1);
        byte[] bytes = disk.content("c");
        new FileHeader(CheckpointFile.FORMAT, CheckpointFile.VERSION + 1, 0, 7, 3)
                .write(MemorySegment.ofArray(bytes), 0);
        disk.put("c", bytes);
        assertThatThrownBy(() -> read(disk, 1))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("version 2");
    }

    @Test
    void offsets_are_those_of_the_table() {
        assertThat(CheckpointFile.CHECKSUM_OFFSET).isEqualTo(4);
        assertThat(CheckpointFile.WORDS_OFFSET).isEqualTo(8);
        assertThat(CheckpointFile.WORD_COUNT_MAX).isEqualTo(8_191);
    }
}
