package io.turbidite.lsm.ship;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.format.FileHeader;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Objects;

/**
 * The archived stream of this format version is read as it was written, and is still what is
 * written. {@code -Dgolden.print=true} prints what a new archive has to hold.
 */
class ShipmentFormatTest {
    private static final String GOLDEN = "/golden/shipment-v1.hex";
    private static final FileHeader HEADER =
            new FileHeader("shipment", 1, 0, 0x1122_3344_5566_7788L, 1_700_000_000_000_000L);

    /** File 1 was there already, so that 2 and 3 are sent; 3 takes two chunks. */
    private static final int FIRST = 2;

    private static byte[] content(int file) {
        byte[] bytes = new byte[file == 3 ? ShipmentFormat.PAYLOAD_BYTES_MAX + 5 : 10 + file];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (file + i % 64);
        }
        return bytes;
    }

    private static byte[] write(FileHeader header, int last) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ShipmentWriter writer = new ShipmentWriter(out, header, FIRST);
        writer.begin();
        for (int file = 0; file <= last; file++) {
            if (file == 0 || file >= FIRST) {
                byte[] bytes = content(file);
                writer.file(
                        file,
                        bytes.length,
                        (position, target, at, count) -> MemorySegment.copy(
                                MemorySegment.ofArray(bytes), position, target, at, count));
            }
        }
        writer.finish(last);
        return out.toByteArray();
    }

    private static void read(InputStream in, int last) {
        ShipmentReader reader = new ShipmentReader(in);
        assertThat(reader.header()).isEqualTo(HEADER);
        assertThat(reader.manifest()).isEqualTo(content(0));
        assertThat(reader.first()).isEqualTo(FIRST);
        for (int file = FIRST; file <= last; file++) {
            ByteArrayOutputStream got = new ByteArrayOutputStream();
            reader.file(file, content(file).length, (position, source, at, count) -> {
                assertThat(position).isEqualTo(got.size());
                got.writeBytes(source.asSlice(at, count).toArray(ValueLayout.JAVA_BYTE));
            });
            assertThat(got.toByteArray()).isEqualTo(content(file));
        }
        reader.finish(last);
    }

    @Test
    void what_is_written_is_the_archived_stream() throws IOException {
        String written = HexFormat.of().formatHex(write(HEADER, 2));
        if (Boolean.getBoolean("golden.print")) {
            System.out.println(GOLDEN + "\n" + written);
        } else {
            assertThat(written).isEqualTo(golden());
        }
    }

    @Test
    void the_archived_stream_is_read_as_it_was_written() throws IOException {
        read(new ByteArrayInputStream(HexFormat.of().parseHex(golden())), 2);
    }

    @Test
    void a_file_of_several_chunks_comes_as_it_went_and_nothing_behind_the_end_is_read()
            throws IOException {
        byte[] stream = write(HEADER, 3);
        InputStream in = new ByteArrayInputStream(concat(stream, new byte[] {42}));
        read(in, 3);
        assertThat(in.read()).isEqualTo(42);
    }

    @Test
    void each_byte_of_the_archived_stream_counts() throws IOException {
        byte[] stream = HexFormat.of().parseHex(golden());
        for (int at = 0; at < stream.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = stream.clone();
                damaged[at] ^= (byte) (1 << bit);
                assertThatThrownBy(() -> read(new ByteArrayInputStream(damaged), 2))
                        .as("bit %d of byte %d", bit, at)
                        .isInstanceOf(CorruptionException.class);
            }
        }
    }

    @Test
    void chunks_of_another_shipment_or_in_another_order_are_damage() {
        byte[] one = write(HEADER, 2);
        byte[] other = write(new FileHeader("shipment", 1, 0, HEADER.storeId(), 7), 2);
        byte[] mixed = one.clone();
        int from = FileHeader.BYTES + ShipmentFormat.CHUNK_HEADER_BYTES + content(0).length;
        System.arraycopy(other, from, mixed, from, one.length - from);
        assertThatThrownBy(() -> read(new ByteArrayInputStream(mixed), 2))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("of shipment 7");
        assertThatThrownBy(() -> read(new ByteArrayInputStream(one), 3))
                .isInstanceOf(CorruptionException.class);
        assertThatThrownBy(() -> read(new ByteArrayInputStream(write(HEADER, 3)), 2))
                .isInstanceOf(CorruptionException.class);
    }

    @Test
    void another_version_is_refused_by_name() {
        byte[] newer = write(new FileHeader("shipment", 2, 0, 1, 1), 2);
        assertThatThrownBy(() -> read(new ByteArrayInputStream(newer), 2))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("2")
                .hasMessageContaining("1");
        byte[] component = write(new FileHeader("component", 1, 0, 1, 1), 2);
        assertThatThrownBy(() -> read(new ByteArrayInputStream(component), 2))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("shipment");
    }

    private static byte[] concat(byte[] first, byte[] second) {
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(first);
        both.writeBytes(second);
        return both.toByteArray();
    }

    private static String golden() throws IOException {
        try (InputStream stream = ShipmentFormatTest.class.getResourceAsStream(GOLDEN)) {
            byte[] bytes = Objects.requireNonNull(stream, GOLDEN).readAllBytes();
            return new String(bytes, StandardCharsets.US_ASCII).replaceAll("\\s", "");
        }
    }
}
