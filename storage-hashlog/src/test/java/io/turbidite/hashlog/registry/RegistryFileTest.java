package io.turbidite.hashlog.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.HexFormat;

class RegistryFileTest {
    private static final long SEED = Seeds.of("RegistryFileTest");
    private static final String NAME = "log/HASHLOG";
    private static final RegistryState STATE = RegistryState.fresh(
                    7, new LogShape(16 << 10, 8, 4), 9, new ParserSpec.Json())
            .registered("by type", PsfDefinition.parse("field(type)"), 4)
            .changed(0, psf -> psf.begun(4_096).ended(8_192))
            .changed(0, psf -> psf.withRun(new HistoryRun(2, 64, 4_096)))
            .registered("größe", PsfDefinition.parse("bucket(size, 10)"), 1)
            .changed(1, psf -> psf.begun(5_000));

    private static final RegistryState CHANGED = STATE.after(STATE);

    /** With the version, without the number. */
    private static final String VERSION_5 =
            "5455524249444954686173686c6f670000000000000000000500000000000000"
                    + "07000000000000000000000000000000000000000000000000000000a3a51772"
                    + "0000400000000008000000040000000900046a736f6e00000002000762792074"
                    + "797065000b6669656c6428747970652900000000040000000100000000000010"
                    + "0000000000000020000000000100000000000000020000000000000040000000"
                    + "000000100000076772c3b6c39f6500106275636b65742873697a652c20313029"
                    + "01000000010000000100000000000013887fffffffffffffff00000000400000"
                    + "00000000009d000000000000000700000000000000000000000000000017bccc"
                    + "af000000000000000000000000000000008e47f39054555242464f4f54";

    private static final String VERSION_4 =
            "5455524249444954686173686c6f670000000000000000000400000000000000"
                    + "070000000000000000000000000000000000000000000000000000002ac86f5b"
                    + "0000400000000008000000040000000900046a736f6e00000002000762792074"
                    + "797065000b6669656c6428747970652900000000040000000100000000000010"
                    + "0000000000000020000000000100000000000000020000000000000040000000"
                    + "000000100000076772c3b6c39f6500106275636b65742873697a652c20313029"
                    + "01000000010000000100000000000013887fffffffffffffff00000000400000"
                    + "00000000009d000000000000000700000000000000000000000000000017bccc"
                    + "af000000000000000000000000000000008e47f39054555242464f4f54";

    private static SimDisk written() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        disk.createDirectories("log");
        RegistryFile.write(disk, "log", CHANGED);
        return disk;
    }

    @Test
    void what_is_written_is_read_back() {
        assertThat(RegistryFile.read(written(), "log"))
                .isEqualTo(new RegistryFile.Stored(CHANGED, true));
    }

    @Test
    void the_bytes_are_pinned() {
        assertThat(HexFormat.of().formatHex(written().content(NAME)))
                .isEqualTo("5455524249444954686173686c6f670000000000000000000600000000000000"
                        + "07000000000000000100000000000000000000000000000000000000bf67e95b"
                        + "0000400000000008000000040000000900046a736f6e00000002000762792074"
                        + "797065000b6669656c6428747970652900000000040000000100000000000010"
                        + "0000000000000020000000000100000000000000020000000000000040000000"
                        + "000000100000076772c3b6c39f6500106275636b65742873697a652c20313029"
                        + "01000000010000000100000000000013887fffffffffffffff00000000400000"
                        + "00000000009d000000000000000700000000000000010000000000000017bccc"
                        + "af0000000000000000000000000000000075039c9a54555242464f4f54");
    }

    @Test
    void version_4_is_read_and_promises_no_tail() {
        SimDisk disk = written();
        disk.put(NAME, HexFormat.of().parseHex(VERSION_4));
        assertThat(RegistryFile.read(disk, "log")).isEqualTo(new RegistryFile.Stored(STATE, false));
        RegistryFile.write(disk, "log", STATE);
        assertThat(RegistryFile.read(disk, "log").hasTail()).isTrue();
    }

    @Test
    void version_5_is_read_and_has_no_number() {
        SimDisk disk = written();
        disk.put(NAME, HexFormat.of().parseHex(VERSION_5));
        RegistryFile.Stored stored = RegistryFile.read(disk, "log");
        assertThat(stored).isEqualTo(new RegistryFile.Stored(STATE, true));
        assertThat(stored.state().number()).isZero();
    }

    @Test
    void a_number_that_is_none_is_damage() {
        for (long number : new long[] {-1, 1L << 31}) {
            SimDisk disk = written();
            byte[] bytes = disk.content(NAME);
            new FileHeader(RegistryFile.FORMAT, RegistryFile.VERSION, 0, 7, number)
                    .write(MemorySegment.ofArray(bytes), 0);
            disk.put(NAME, bytes);
            assertThatThrownBy(() -> RegistryFile.read(disk, "log"))
                    .isInstanceOf(CorruptionException.class);
        }
    }

    @Test
    void every_flipped_bit_is_noticed() {
        SimDisk disk = written();
        int size = disk.content(NAME).length;
        for (int at = 0; at < size; at++) {
            for (int bit = 0; bit < 8; bit++) {
                SimDisk damaged = disk.copy();
                damaged.flipBit(NAME, at, bit);
                assertThatThrownBy(() -> RegistryFile.read(damaged, "log"))
                        .as("byte %d bit %d", at, bit)
                        .isInstanceOfAny(CorruptionException.class, FormatVersionException.class);
            }
        }
    }

    @Test
    void every_cut_is_noticed() {
        SimDisk disk = written();
        int size = disk.content(NAME).length;
        for (int cut = 0; cut < size; cut++) {
            SimDisk shorter = disk.copy();
            try (DiskFile file = shorter.open(NAME)) {
                file.truncate(cut);
            }
            assertThatThrownBy(() -> RegistryFile.read(shorter, "log"))
                    .as("cut at %d", cut)
                    .isInstanceOf(CorruptionException.class);
        }
    }

    @Test
    void another_version_is_refused_by_name() {
        SimDisk disk = written();
        byte[] bytes = disk.content(NAME);
        new FileHeader(RegistryFile.FORMAT, RegistryFile.VERSION + 1, 0, 7, 0)
                .write(MemorySegment.ofArray(bytes), 0);
        disk.put(NAME, bytes);
        assertThatThrownBy(() -> RegistryFile.read(disk, "log"))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("version " + (RegistryFile.VERSION + 1));
    }

    /**
     * What it says of its length is right, but it is not what was written: no memory is taken for
     * it.
     */
    @Test
    void a_file_that_is_far_too_long_is_damaged_and_takes_no_memory(@TempDir Path directory) {
        long fileBytes = 200L << 20;
        RealDisk disk = RealDisk.open(directory);
        disk.createDirectories("log");
        RegistryFile.write(disk, "log", STATE);
        try (DiskFile file = disk.open(NAME)) {
            FileFooter footer = FileFooter.readFrom(file);
            file.truncate(fileBytes);
            new FileFooter(
                            FileHeader.BYTES,
                            fileBytes - FileHeader.BYTES - FileFooter.BYTES,
                            footer.payloadChecksum(),
                            footer.storeId(),
                            footer.fileId())
                    .writeTo(file, fileBytes - FileFooter.BYTES);
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThatThrownBy(() -> RegistryFile.read(disk, "log"))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("HASHLOG");
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(4L << 20);
    }
}
