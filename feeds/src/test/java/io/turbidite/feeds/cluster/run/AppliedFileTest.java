package io.turbidite.feeds.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.feeds.cluster.run.AppliedFile.State;
import io.turbidite.feeds.cluster.run.AppliedFile.Thing;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Objects;

/** The bytes of {@code cluster/APPLIED}, version 1, are pinned. */
class AppliedFileTest {
    private static final String GOLDEN = "/golden/cluster-applied-v1.hex";
    private static final String NAME = "APPLIED";
    private static final long CLUSTER = 0xC5;
    private static final State STATE =
            new State(7, 0x0123_4567_89AB_CDEFL, new Thing("Trips", "by_city"));

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final AppliedFile file = new AppliedFile(disk, NAME, CLUSTER);

    private static byte[] golden() throws IOException {
        try (InputStream in =
                Objects.requireNonNull(AppliedFileTest.class.getResourceAsStream(GOLDEN), GOLDEN)) {
            return HexFormat.of()
                    .parseHex(new String(in.readAllBytes(), StandardCharsets.US_ASCII).strip());
        }
    }

    @Test
    void the_bytes_are_as_ever() throws IOException {
        file.write(STATE);
        String written = HexFormat.of().formatHex(disk.content(NAME));
        if (Boolean.getBoolean("golden.print")) {
            System.out.println("golden " + written);
        } else {
            assertThat(written).isEqualTo(HexFormat.of().formatHex(golden()));
        }
    }

    @Test
    void bytes_of_then_are_read() throws IOException {
        disk.put(NAME, golden());
        assertThat(file.read()).isEqualTo(STATE);
    }
}
