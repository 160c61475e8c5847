package io.turbidite.hashlog.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.FormatVersionException;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogBench;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** The bytes on disk, pinned: whoever changes them bumps a version. */
class LogFormatTest {
    private static final long SEED = 7;

    /** A sealed page, and a second one that is not sealed: the same on every run. */
    private static SimDisk golden() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.register("id");
            try (IngestSession session = bench.log.openSession("s")) {
                for (int i = 0; i < 20; i++) {
                    String text = "{\"id\":%d,\"x\":\"%s\"}".formatted(i, "y".repeat(1_000));
                    session.append(LogBench.segment(text), 0, text.length());
                }
                session.awaitDurable();
            }
        }
        return disk;
    }

    private static String hex(byte[] bytes, int from, int to) {
        return HexFormat.of().formatHex(Arrays.copyOfRange(bytes, from, to));
    }

    @Test
    void a_segment_has_the_pinned_bytes() {
        byte[] bytes = golden().content("log/00000000.pages");
        assertThat(hex(bytes, 0, 96))
                .isEqualTo("5455524249444954686173686c6f672d7365676d656e74000200000000000000"
                        + "f0debc9a7856341200000000000000000000000000000000000000008f1443d0"
                        + "000000000000000000400000040000000010000080289cf70000000000000000");
        int page = SegmentHeader.BYTES;
        assertThat(hex(bytes, page, page + 24))
                .isEqualTo("5455524250414745f0debc9a785634120000000000000000");
        int record = page + LogBench.SHAPE.pageHeaderBytes();
        assertThat(hex(bytes, record, record + 40))
                .isEqualTo("f703000200000080000000000000000000000000000000007b226964223a302c"
                        + "2278223a22797979");
    }

    @Test
    void a_time_mark_has_the_pinned_bytes() {
        MemorySegment memory = MemorySegment.ofArray(new long[4]);
        TimeMark.write(memory, 8, 0x0005_1234_5678_9ABCL);
        assertThat(hex(memory.toArray(ValueLayout.JAVA_BYTE), 8, 24))
                .isEqualTo("08000000000000a0bc9a785634120500");
        long word = memory.get(ValueLayout.JAVA_LONG, 8);
        assertThat(TimeMark.is(word)).isTrue();
        assertThat(RecordHeader.recordBytes(word)).isEqualTo(TimeMark.RECORD_BYTES);
        assertThat(TimeMark.read(memory, 8)).isEqualTo(0x0005_1234_5678_9ABCL);
        SessionMark.write(memory, 8, new byte[] {'s'}, 9);
        assertThat(TimeMark.is(memory.get(ValueLayout.JAVA_LONG, 8))).isFalse();
    }

    @Test
    void a_tail_mark_has_the_pinned_bytes() {
        byte[] bytes = golden().content("log/TAIL");
        assertThat(hex(bytes, 0, 64))
                .isEqualTo("5455524249444954686173686c6f672d7461696c000000000200000000000000"
                        + "f0debc9a7856341200000000000000000000000000000000000000006a1e2aff");
        MemorySegment slot = MemorySegment.ofArray(new byte[LogShape.BLOCK_BYTES]);
        new TailMark(1, 2, 3, 4, 5_000, 6).writeTwice(slot);
        byte[] mark = slot.toArray(ValueLayout.JAVA_BYTE);
        assertThat(hex(mark, 0, 64))
                .isEqualTo("0100000000000000020000000000000003000000000000000400000000000000"
                        + "88130000060000000000000000000000000000000000000000000000722c36ed");
        assertThat(hex(mark, 2_048, 2_112)).isEqualTo(hex(mark, 0, 64));
    }

    @Test
    void an_open_page_has_the_pinned_bytes() {
        byte[] bytes = golden().content("log/00000000.pages");
        int page = SegmentHeader.BYTES + LogBench.SHAPE.pageBytes();
        assertThat(hex(bytes, page, page + 80))
                .isEqualTo("545552424f50454ef0debc9a7856341201000000000000000040204648470600"
                        + "8000000000000000f814000002000000000000000000000000000000a6805f3c"
                        + "8810fc84d7ea9a130000000000000000");
    }

    @Test
    void offsets_are_those_of_the_tables() {
        assertThat(PageHeader.PAGE_OFFSET).isEqualTo(16);
        assertThat(PageHeader.FIRST_ARRIVAL_OFFSET).isEqualTo(24);
        assertThat(PageHeader.LAST_ARRIVAL_OFFSET).isEqualTo(32);
        assertThat(PageHeader.DURABLE_OFFSET).isEqualTo(40);
        assertThat(PageHeader.REGISTRY_OFFSET).isEqualTo(48);
        assertThat(PageHeader.ZERO_OFFSET).isEqualTo(52);
        assertThat(PageHeader.CHECKSUM_OFFSET).isEqualTo(60);
        assertThat(PageHeader.BLOCKS_OFFSET).isEqualTo(64);
        assertThat(OpenPage.BEGIN_OFFSET).isEqualTo(32);
        assertThat(OpenPage.USED_OFFSET).isEqualTo(40);
        assertThat(OpenPage.REGISTRY_OFFSET).isEqualTo(44);
        assertThat(OpenPage.CHECKSUM_OFFSET).isEqualTo(60);
        assertThat(OpenPage.BLOCKS_OFFSET).isEqualTo(64);
        assertThat(SegmentHeader.FIRST_PAGE_OFFSET).isEqualTo(64);
        assertThat(SegmentHeader.CHECKSUM_OFFSET).isEqualTo(84);
        assertThat(TailMark.USED_OFFSET).isEqualTo(32);
        assertThat(TailMark.PAGE_CHECKSUM_OFFSET).isEqualTo(36);
        assertThat(TailMark.CHECKSUM_OFFSET).isEqualTo(60);
        assertThat(RecordHeader.COUNT_SHIFT).isEqualTo(25);
        assertThat(RecordHeader.REGION_SHIFT).isEqualTo(39);
        assertThat(RecordHeader.KIND_SHIFT).isEqualTo(60);
        assertThat(RecordHeader.ZERO_SHIFT).isEqualTo(62);
        assertThat(RecordHeader.VISIBLE_SHIFT).isEqualTo(63);
    }

    @Test
    void a_header_word_says_what_was_put_into_it() {
        long word = RecordHeader.of(
                RecordHeader.PAYLOAD_BYTES_MAX,
                RecordHeader.KEY_POINTER_COUNT_MAX,
                RecordHeader.REGION_BYTES_MAX);
        assertThat(RecordHeader.payloadBytes(word)).isEqualTo(RecordHeader.PAYLOAD_BYTES_MAX);
        assertThat(RecordHeader.keyPointerCount(word))
                .isEqualTo(RecordHeader.KEY_POINTER_COUNT_MAX);
        assertThat(RecordHeader.regionBytes(word)).isEqualTo(RecordHeader.REGION_BYTES_MAX);
        assertThat(RecordHeader.kind(word)).isEqualTo(RecordHeader.RECORD);
        assertThat(RecordHeader.isVisible(word)).isFalse();
        assertThat(RecordHeader.recordBytes(RecordHeader.of(5, 2, 3)))
                .isEqualTo(8 + 2 * 12 + 8 + 8);
        assertThat(RecordHeader.recordBytes(RecordHeader.filler(4_096))).isEqualTo(4_096);
        assertThat(RecordHeader.kind(RecordHeader.filler(8))).isEqualTo(RecordHeader.FILLER);
    }

    @Test
    void a_deletion_reads_back() {
        MemorySegment memory = MemorySegment.ofArray(new long[4]);
        Deletion.write(memory, 8, 0x1234_5678L);
        assertThat(hex(memory.toArray(ValueLayout.JAVA_BYTE), 8, 24))
                .isEqualTo("08000000000000b07856341200000000");
        assertThat(Deletion.read(memory, 8)).isEqualTo(0x1234_5678L);
        assertThat(RecordHeader.recordBytes(RecordHeader.loadAcquire(memory, 8)))
                .isEqualTo(Deletion.RECORD_BYTES);
    }

    @Test
    void a_session_mark_reads_back() {
        MemorySegment memory = MemorySegment.ofArray(new long[10]);
        SessionMark.write(memory, 8, "löäder".getBytes(StandardCharsets.UTF_8), 9);
        long word = RecordHeader.loadAcquire(memory, 8);
        assertThat(RecordHeader.kind(word)).isEqualTo(RecordHeader.SESSION_MARK);
        assertThat(SessionMark.read(memory, 8, word)).isEqualTo(new SessionMark("löäder", 9));
        assertThat(RecordHeader.recordBytes(word)).isEqualTo(SessionMark.recordBytes(8));
    }

    @Test
    void a_newer_version_is_refused_by_name() {
        SimDisk disk = golden();
        byte[] bytes = disk.content("log/TAIL");
        new FileHeader(TailMark.FORMAT, TailMark.VERSION + 1, 0, LogBench.LOG_ID, 0)
                .write(MemorySegment.ofArray(bytes), 0);
        disk.put("log/TAIL", bytes);
        assertThatThrownBy(() -> TailFile.read(disk, "log", LogBench.LOG_ID, LogBench.SHAPE, true))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("version 2");
    }
}
