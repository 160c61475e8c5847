package io.turbidite.lsm.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.bytes.Slice;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

class LogRecordsTest {
    /**
     * Timestamps 0x1234 and 0x1235; an upsert of (7) to (8, 9) and a delete of (6) that changes a
     * bitmap, dataset 3.
     */
    private static final String GOLDEN = "3412000000000004" // timestamp, version
            + "02" // operations
            + "01" + "03" + "01" + "02" + "07" + "0809"
            + "82" + "03" + "01" + "00" + "06";

    private static byte[] golden() {
        return HexFormat.of().parseHex(GOLDEN);
    }

    private static List<String> replay(byte[] bytes) {
        List<String> seen = new ArrayList<>();
        LogRecords.replay(
                40,
                Slice.of(bytes),
                (timestamp, change) -> seen.add("%x %s%s of %d: %s %s"
                        .formatted(
                                timestamp,
                                change.isDelete() ? "delete" : "upsert",
                                change.isUpdate() ? " update" : "",
                                change.datasetId(),
                                Arrays.toString(change.key().toByteArray()),
                                Arrays.toString(change.record().toByteArray()))));
        return seen;
    }

    @Test
    void are_written_as_they_always_were() {
        byte[] bytes = new byte[(int) LogRecords.bytesMax(2, 4)];
        MemorySegment target = MemorySegment.ofArray(bytes);
        Change change = new Change();
        long at = LogRecords.begin(target, 0, 0x1234, 2);
        at = LogRecords.put(
                target, at, change.upsert(3, Slice.of(new byte[] {7}), Slice.of(new byte[] {8, 9
                })));
        at = LogRecords.put(
                target, at, change.delete(3, Slice.of(new byte[] {6})).update(true));
        assertThat(at).isLessThan(bytes.length);
        assertThat(HexFormat.of().formatHex(bytes, 0, (int) at)).isEqualTo(GOLDEN);
    }

    @Test
    void are_read_as_they_were_written() {
        assertThat(replay(golden()))
                .containsExactly("1234 upsert of 3: [7] [8, 9]", "1235 delete update of 3: [6] []");
    }

    /** Before version 4 the operations of a batch had one timestamp. */
    @Test
    void of_version_3_are_read_as_they_were_written() {
        byte[] bytes = golden();
        bytes[7] = 3;
        assertThat(replay(bytes))
                .containsExactly("1234 upsert of 3: [7] [8, 9]", "1234 delete update of 3: [6] []");
    }

    @Test
    void of_earlier_versions_are_refused() {
        byte[] bytes = golden();
        for (byte version : new byte[] {0, 2}) {
            bytes[7] = version;
            assertThatThrownBy(() -> replay(bytes))
                    .isInstanceOf(FormatVersionException.class)
                    .hasMessageContaining("position 40")
                    .hasMessageContaining("version " + Math.max(1, version))
                    .hasMessageContaining("version 4");
        }
    }

    @Test
    void of_the_longest_fields_fit_what_is_said_to_be_the_most() {
        MemorySegment target = MemorySegment.ofArray(new byte[64]);
        Slice empty = Slice.of(new byte[0]);
        long at = LogRecords.begin(target, 0, Long.MAX_VALUE >>> 8, 1);
        at = LogRecords.put(target, at, new Change().upsert(Integer.MAX_VALUE, empty, empty));
        assertThat(at).isLessThanOrEqualTo(LogRecords.bytesMax(1, 0));
    }

    @Test
    void that_are_cut_are_corrupt() {
        for (int length = 0; length < golden().length; length++) {
            byte[] cut = Arrays.copyOf(golden(), length);
            assertThatThrownBy(() -> replay(cut))
                    .as("%d bytes", length)
                    .isInstanceOf(CorruptionException.class);
        }
        assertThatThrownBy(() -> replay(Arrays.copyOf(golden(), golden().length + 1)))
                .isInstanceOf(CorruptionException.class);
    }

    @Test
    void with_impossible_lengths_are_corrupt() {
        byte[] bytes = golden();
        bytes[11] = 127;
        assertThatThrownBy(() -> replay(bytes)).isInstanceOf(CorruptionException.class);
        byte[] endless = golden();
        Arrays.fill(endless, 10, endless.length, (byte) 0xFF);
        assertThatThrownBy(() -> replay(endless)).isInstanceOf(CorruptionException.class);
        byte[] kind = golden();
        kind[9] = 3;
        assertThatThrownBy(() -> replay(kind)).isInstanceOf(CorruptionException.class);
    }
}
