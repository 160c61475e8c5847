package io.turbidite.hashlog.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogBench;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Pages of an older release don't say what was durable when they were written: that they shared a
 * frame does.
 */
class OlderReleasePagesTest {
    private static final long SEED = Seeds.of("OlderReleasePagesTest");
    private static final LogShape SHAPE = LogBench.SHAPE;
    private static final int PAGE_BYTES = SHAPE.pageBytes();

    /**
     * Of {@code pageCount} sealed pages the last of the first segment is lost, and TAIL is as old
     * as that.
     */
    @ParameterizedTest
    @CsvSource({"12, true", "9, false"})
    void a_page_that_lay_in_the_same_frame_as_the_end_shows_that_it_was_durable(
            int pageCount, boolean isRefused) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        byte[] tail;
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            tail = disk.content("log/TAIL");
            MemorySegment record = LogBench.segment("x".repeat(1_000));
            while (SHAPE.pageOf(bench.log.log().tail()) < pageCount) {
                session.append(record, 0, 1_000);
            }
        }
        disk.put("log/TAIL", tail);
        byte[] first = disk.content("log/00000000.pages");
        disk.put("log/00000000.pages", Arrays.copyOf(first, first.length - PAGE_BYTES));
        for (int segment = 0; segment <= (pageCount - 1) / SHAPE.segmentPageCount(); segment++) {
            String name = "log/%08x.pages".formatted(segment);
            disk.put(name, olderRelease(disk.content(name), segment, pageCount));
        }
        if (isRefused) {
            assertThatThrownBy(() ->
                            LogBench.reopened(SEED, disk, LogBench.options()).close())
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageStartingWith("log/00000000.pages")
                    .hasMessageContaining("restore");
        } else {
            try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
                assertThat(SHAPE.pageOf(bench.log.log().tail())).isEqualTo(3);
            }
            assertThat(disk.exists("log/00000001.pages")).isFalse();
        }
    }

    /** Sealed anew without the address, up to the last of {@code pageCount} pages. */
    private static byte[] olderRelease(byte[] content, int segment, int pageCount) {
        int first = segment * SHAPE.segmentPageCount();
        int bytes = SegmentHeader.BYTES + (pageCount - first) * PAGE_BYTES;
        byte[] sealed = Arrays.copyOf(content, Math.min(content.length, bytes));
        MemorySegment memory = MemorySegment.ofArray(sealed);
        for (int at = SegmentHeader.BYTES; at < sealed.length; at += PAGE_BYTES) {
            long page = first + (long) (at - SegmentHeader.BYTES) / PAGE_BYTES;
            new PageHeader(LogBench.LOG_ID, page, 1, 2, 0, 0)
                    .seal(memory.asSlice(at, PAGE_BYTES), new Crc32c());
        }
        return sealed;
    }
}
