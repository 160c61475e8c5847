package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * Files of a log that are far too long, or short: damage that is told, or scanned past; and never
 * all of the memory.
 */
class FileSizesTest {
    private static final long SEED = Seeds.of("FileSizesTest");

    /** More than the heap that tests have. */
    private static final long HUGE_BYTES = 8L << 30;

    private static HashLogOptions options() {
        return LogBench.options().withTable(6, 16 << 20);
    }

    private static int count(RealDisk disk) {
        try (LogBench bench = LogBench.reading(SEED, disk, options())) {
            LogState state = LogState.of(bench.log);
            state.checkChains(bench.log, "read");
            return state.numbersOf("s").size();
        }
    }

    @Test
    void a_file_of_another_length_is_told_or_scanned_past(@TempDir Path directory) {
        RealDisk disk = RealDisk.open(directory);
        try (LogBench bench = LogBench.simulated(SEED, disk, options());
                IngestSession session = bench.log.openSession("s")) {
            for (int i = 0; i < 300; i++) {
                if (i == 150) {
                    bench.register("type");
                }
                MemorySegment record = LogBench.segment(LogState.event("s", i));
                session.append(record, 0, (int) record.byteSize());
            }
            bench.log.indexHistory("type").await();
            bench.log.checkpoint();
        }
        assertThat(count(disk)).isEqualTo(300);
        int told = 0;
        for (String name :
                List.of("HASHLOG", "TAIL", "00000001.index", "00000001.run", "00000000.pages")) {
            String file = "log/" + name;
            byte[] whole = read(disk, file);
            long[] lengths = {
                0, 1, 63, 64, 127, whole.length / 2, whole.length - 1, whole.length + 1, HUGE_BYTES
            };
            for (long length : lengths) {
                try (DiskFile opened = disk.open(file)) {
                    opened.truncate(length);
                }
                String what = "%s of %d bytes".formatted(name, length);
                try {
                    // derived files, and what lies behind the last page, are no loss
                    assertThat(count(disk)).as(what).isEqualTo(300);
                } catch (CorruptionException e) {
                    assertThat(e).as(what).hasMessageContaining(name);
                    told++;
                }
                disk.delete(file);
                try (DiskFile again = disk.create(file)) {
                    again.write(0, MemorySegment.ofArray(whole), 0, whole.length);
                }
                assertThat(count(disk)).as("%s, and back", what).isEqualTo(300);
            }
        }
        assertThat(told).isGreaterThan(20);
    }

    private static byte[] read(RealDisk disk, String name) {
        try (DiskFile file = disk.openReadOnly(name)) {
            byte[] bytes = new byte[(int) file.size()];
            assertThat(file.read(0, MemorySegment.ofArray(bytes), 0, bytes.length))
                    .isEqualTo(bytes.length);
            return bytes;
        }
    }
}
