package io.turbidite.lsm.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

class LogRecordsTest {
    /** Timestamp 0x1234; an upsert of (7) to (8, 9) and a delete of (6) that changes a bitmap, dataset 3. */
    private static final String GOLDEN = "3412000000000002" // timestamp, version
            + "02000000" // operations
            + "01" + "03000000" + "01000000" + "02000000" + "07" + "0809"
            + "82" + "03000000" + "01000000" + "00000000" + "06";

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
        byte[] bytes = new byte[(int) LogRecords.bytes(2, 4)];
        MemorySegment target = MemorySegment.ofArray(bytes);
        Change change = new Change();
        long at = LogRecords.begin(target, 0, 0x1234, 2);
        at = LogRecords.put(
                target, at, change.upsert(3, Slice.of(new byte[] {7}), Slice.of(new byte[] {8, 9
                })));
        at = LogRecords.put(
                target, at, change.delete(3, Slice.of(new byte[] {6})).update(true));
        assertThat(at).isEqualTo(bytes.length);
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(GOLDEN);
    }

    @Test
    void are_read_as_they_were_written() {
        assertThat(replay(golden()))
                .containsExactly("1234 upsert of 3: [7] [8, 9]", "1234 delete update of 3: [6] []");
    }

    @Test
    void of_version_1_are_refused() {
        byte[] bytes = golden();
        bytes[7] = 0;
        assertThatThrownBy(() -> replay(bytes))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("position 40")
                .hasMessageContaining("version 1")
                .hasMessageContaining("version 2");
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
        MemorySegment.ofArray(bytes).set(Bytes.I32, 17, Integer.MAX_VALUE);
        assertThatThrownBy(() -> replay(bytes)).isInstanceOf(CorruptionException.class);
        byte[] kind = golden();
        kind[12] = 3;
        assertThatThrownBy(() -> replay(kind)).isInstanceOf(CorruptionException.class);
    }
}
