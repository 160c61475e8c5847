package io.turbidite.lsm.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Envelope;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.index.OutsideFile;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;

/**
 * The archived marker is read as it was written, and is still what is written. {@code
 * -Dgolden.print=true} prints what a new archive has to hold.
 */
class RegionMarkerTest {
    private static final String GOLDEN = "/golden/region-outside-v1.hex";
    private static final long STORE_ID = 0x1122_3344_5566_7788L;
    private static final long REGION_ID = 0x5f0a_1c93_d27b_4e68L;
    private static final String NAME = "regions/5f0a1c93d27b4e68.outside";

    private static final RegionMarker SAMPLE = new RegionMarker(
            REGION_ID,
            "pm",
            "Flüge",
            3,
            "by_line",
            "/data/store",
            new OutsideFile("/pm/1122334455667788-0-5f0a1c93d27b4e68.region", "2"));

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    @BeforeEach
    void makeDirectory() {
        disk.createDirectories(StoreFiles.REGIONS);
    }

    private static String golden() throws IOException {
        try (InputStream in =
                Objects.requireNonNull(RegionMarkerTest.class.getResourceAsStream(GOLDEN))) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII).trim();
        }
    }

    private void put(byte[] bytes) {
        if (disk.exists(NAME)) {
            disk.delete(NAME);
        }
        try (DiskFile file = disk.create(NAME)) {
            file.write(0, MemorySegment.ofArray(bytes), 0, bytes.length);
        }
    }

    @Test
    void a_marker_has_the_bytes_that_it_always_had() throws IOException {
        SAMPLE.write(disk, STORE_ID);
        String written = HexFormat.of().formatHex(disk.content(NAME));
        if (Boolean.getBoolean("golden.print")) {
            System.out.println(GOLDEN + "\n" + written);
        } else {
            assertThat(written).isEqualTo(golden());
        }
    }

    @Test
    void the_archived_marker_is_read_as_it_was_written() throws IOException {
        put(HexFormat.of().parseHex(golden()));
        assertThat(RegionMarker.read(disk, STORE_ID, REGION_ID)).isEqualTo(SAMPLE);
    }

    @Test
    void each_bit_of_the_archived_marker_counts() throws IOException {
        byte[] sound = HexFormat.of().parseHex(golden());
        for (int bit = 0; bit < 8 * sound.length; bit++) {
            byte[] damaged = sound.clone();
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            put(damaged);
            assertRefused("bit " + bit);
        }
        for (int length = 0; length < sound.length; length++) {
            put(Arrays.copyOf(sound, length));
            assertRefused("cut to " + length);
        }
        put(Arrays.copyOf(sound, sound.length + 1));
        assertRefused("a byte more");
        put(new byte[1 << 20]);
        assertRefused("a megabyte of nothing");
    }

    private void assertRefused(String as) {
        assertThatThrownBy(() -> RegionMarker.read(disk, STORE_ID, REGION_ID))
                .as(as)
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining(NAME);
    }

    @Test
    void a_marker_of_another_store_region_format_or_version_is_refused() throws IOException {
        byte[] payload = HexFormat.of().parseHex(golden());
        payload = Arrays.copyOfRange(payload, FileHeader.BYTES, payload.length - FileHeader.BYTES);
        String format = RegionMarker.FORMAT;
        put(Envelope.wrap(new FileHeader(format, 1, 0, STORE_ID + 1, REGION_ID), payload));
        assertRefused("another store");
        put(Envelope.wrap(new FileHeader(format, 1, 0, STORE_ID, REGION_ID + 1), payload));
        assertRefused("another region");
        put(Envelope.wrap(new FileHeader("component", 1, 0, STORE_ID, REGION_ID), payload));
        assertRefused("another format");
        put(Envelope.wrap(
                new FileHeader(format, 1, 0, STORE_ID, REGION_ID),
                Arrays.copyOf(payload, payload.length + 1)));
        assertRefused("more than a marker has");
        put(Envelope.wrap(
                new FileHeader(format, 1, 0, STORE_ID, REGION_ID),
                Arrays.copyOf(payload, payload.length - 1)));
        assertRefused("less than a marker has");
        put(Envelope.wrap(new FileHeader(format, 2, 0, STORE_ID, REGION_ID), payload));
        assertThatThrownBy(() -> RegionMarker.read(disk, STORE_ID, REGION_ID))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining(NAME);
    }

    @Test
    void names_of_markers_are_told_from_others() {
        assertThat(StoreFiles.regionMarker(REGION_ID)).isEqualTo(NAME);
        assertThat(StoreFiles.markedRegion("5f0a1c93d27b4e68.outside")).isEqualTo(REGION_ID);
        assertThat(StoreFiles.markedRegion("00000000002a.outside")).isEqualTo(42);
        for (String name : new String[] {
            "5f0a1c93d27b4e68.region",
            "5f0a1c93d27b4e68.outside.new",
            "ff0a1c93d27b4e68.outside",
            "5f0a1c93d27b4e681.outside",
            "5F0A1C93D27B4E68.outside",
            ".outside"
        }) {
            assertThat(StoreFiles.markedRegion(name)).as(name).isNegative();
            assertThat(StoreFiles.isMarkerDraft(name))
                    .as(name)
                    .isEqualTo(name.endsWith(".outside.new"));
        }
    }
}
