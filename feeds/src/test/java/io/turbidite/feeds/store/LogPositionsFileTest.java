package io.turbidite.feeds.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.file.FilePosition;
import io.turbidite.feeds.source.file.FileSource.Head;
import io.turbidite.feeds.store.LogPositionsFile.State;

import org.junit.jupiter.api.Test;

import java.util.HexFormat;
import java.util.Map;

class LogPositionsFileTest {
    private static final String NAME = "feeds/f.positions";
    private static final State STATE = new State(
            4_096,
            77,
            Map.of(
                    "a.json",
                    new PartitionState(
                            new FilePosition(512, 9, true, 600, new Head(600, 0xCAFEL)).encode(),
                            0,
                            7,
                            1)));

    private static SimDisk written() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        new LogPositionsFile(disk, NAME).write(STATE);
        return disk;
    }

    @Test
    void what_is_written_is_read_back_and_a_missing_file_is_none() {
        assertThat(new LogPositionsFile(written(), NAME).read()).isEqualTo(STATE);
        assertThat(new LogPositionsFile(new SimDisk(1, Profile.STRICT), NAME).read())
                .isNull();
    }

    @Test
    void the_payload_is_that_of_version_1() {
        byte[] bytes = written().content(NAME);
        assertThat(HexFormat.of().formatHex(bytes, 64, bytes.length - 64))
                .isEqualTo("0000000000001000" + "000000000000004d" + "00000001"
                        + "0006612e6a736f6e" + "0000000000000200" + "0000000000000009" + "01"
                        + "0000000000000258" + "00000258" + "000000000000cafe"
                        + "0000000000000007" + "0000000000000001");
    }

    @Test
    void no_flipped_byte_is_believed() {
        byte[] whole = written().content(NAME);
        for (int i = 0; i < whole.length; i++) {
            byte[] damaged = whole.clone();
            damaged[i] ^= 0x5A;
            SimDisk disk = new SimDisk(1, Profile.STRICT);
            disk.createDirectories("feeds");
            disk.put(NAME, damaged);
            assertThatThrownBy(() -> new LogPositionsFile(disk, NAME).read())
                    .as("byte %d", i)
                    .isInstanceOfAny(CorruptionException.class, FormatVersionException.class);
        }
    }
}
