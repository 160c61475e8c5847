package io.turbidite.core.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/** Header, footer and checksum: their bytes are fixed, and every flipped bit is noticed. */
class EnvelopeTest {
    private static final FileHeader HEADER =
            new FileHeader("component", 3, 0x8001, 0x1122334455667788L, 42);
    private static final FileFooter FOOTER =
            new FileFooter(4_096, 1_000, 0xCAFEBABE, 0x1122334455667788L, 42);

    @Test
    void theHeaderHasTheBytesItAlwaysHad() throws IOException {
        assertThat(hex(headerBytes())).isEqualTo(golden("file-header.hex"));
    }

    @Test
    void theFooterHasTheBytesItAlwaysHad() throws IOException {
        assertThat(hex(footerBytes())).isEqualTo(golden("file-footer.hex"));
    }

    @Test
    void whatIsWrittenIsRead() {
        assertThat(FileHeader.read("f", headerBytes(), 0)).isEqualTo(HEADER);
        assertThat(FileFooter.read("f", 10_000, footerBytes(), 0)).isEqualTo(FOOTER);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (DiskFile file = disk.create("f")) {
            HEADER.writeTo(file);
            FOOTER.writeTo(file, 9_000);
            assertThat(FileHeader.readFrom(file)).isEqualTo(HEADER);
            FileFooter footer = FileFooter.readFrom(file);
            assertThat(footer.checkOwner("f", file.size(), HEADER)).isEqualTo(FOOTER);
        }
    }

    @Test
    void everyFlippedBitIsDamage() {
        for (int bit = 0; bit < FileHeader.BYTES * 8; bit++) {
            MemorySegment header = flipped(headerBytes(), bit);
            MemorySegment footer = flipped(footerBytes(), bit);
            assertThatThrownBy(() -> FileHeader.read("f", header, 0).check("f", "component", 3))
                    .isInstanceOf(CorruptionException.class);
            assertThatThrownBy(() -> FileFooter.read("f", 10_000, footer, 0))
                    .isInstanceOf(CorruptionException.class);
        }
    }

    @Test
    void everyTruncationIsDamage() {
        for (int length = 0; length < 200; length++) {
            SimDisk disk = new SimDisk(1, Profile.STRICT);
            try (DiskFile file = disk.create("f")) {
                HEADER.writeTo(file);
                new FileFooter(64, 72, 0, HEADER.storeId(), 42).writeTo(file, 136);
                file.truncate(length);
                assertThatThrownBy(() -> FileFooter.readFrom(file))
                        .isInstanceOf(CorruptionException.class);
                if (length < FileHeader.BYTES) {
                    assertThatThrownBy(() -> FileHeader.readFrom(file))
                            .isInstanceOf(CorruptionException.class);
                }
            }
        }
    }

    @Test
    void paddingMustBeZeroEvenWhereTheChecksumFits() {
        for (int at : new int[] {23, 28, 31, 48, 59}) {
            MemorySegment header = headerBytes();
            header.set(Bytes.U8, at, (byte) 1);
            header.set(Bytes.I32, 60, new Crc32c().compute(header, 0, 60));
            assertThatThrownBy(() -> FileHeader.read("f", header, 0))
                    .isInstanceOf(CorruptionException.class);
        }
        MemorySegment footer = footerBytes();
        footer.set(Bytes.U8, 40, (byte) 1);
        footer.set(Bytes.I32, 52, new Crc32c().compute(footer, 0, 52));
        assertThatThrownBy(() -> FileFooter.read("f", 10_000, footer, 0))
                .hasMessageContaining("padding");
    }

    @Test
    void aPayloadOutsideTheFileIsDamage() {
        long[][] ranges = {{64, -1}, {63, 1}, {9_937, 0}, {64, 9_873}, {Long.MAX_VALUE, 1}};
        for (long[] range : ranges) {
            MemorySegment footer = footerBytes();
            footer.set(Bytes.I64, 0, range[0]);
            footer.set(Bytes.I64, 8, range[1]);
            footer.set(Bytes.I32, 52, new Crc32c().compute(footer, 0, 52));
            assertThatThrownBy(() -> FileFooter.read("f", 10_000, footer, 0))
                    .hasMessageContaining("payload");
        }
    }

    @Test
    void anEnvelopeIsReadAsItWasMade() {
        byte[] payload = "a payload".getBytes(StandardCharsets.UTF_8);
        byte[] image = Envelope.wrap(HEADER, payload);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (DiskFile file = disk.create("f")) {
            file.write(7, MemorySegment.ofArray(image), 0, image.length);
            assertThat(Envelope.readImage(file, 7, image.length)).isEqualTo(image);
            assertThatThrownBy(() -> Envelope.readImage(file, 7, image.length - 1))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining("at most " + (image.length - 1) + " bytes");
        }
        assertThat(Envelope.header("f", image)).isEqualTo(HEADER);
        assertThat(Envelope.payload("f", HEADER, image)).isEqualTo(payload);
    }

    @Test
    void everyFlippedBitAndEveryCutOfAnEnvelopeIsDamage() {
        byte[] whole = Envelope.wrap(HEADER, new byte[] {1, 2, 3});
        for (int i = 0; i < whole.length * 8; i++) {
            byte[] damaged = whole.clone();
            damaged[i / 8] ^= (byte) (1 << (i % 8));
            assertThatThrownBy(() -> readAll(damaged)).isInstanceOf(CorruptionException.class);
        }
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> readAll(cut)).isInstanceOf(CorruptionException.class);
        }
    }

    private static byte[] readAll(byte[] image) {
        return Envelope.payload("f", Envelope.header("f", image).check("f", "component", 3), image);
    }

    @Test
    void aNewerVersionIsNamedAndAForeignFileIsDamage() {
        assertThatThrownBy(() -> HEADER.check("f", "component", 2))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("version 3");
        assertThatThrownBy(() -> HEADER.check("f", "log", 3))
                .isInstanceOf(CorruptionException.class);
        assertThat(HEADER.checkOwner("f", HEADER.storeId(), 42)).isEqualTo(HEADER);
        assertThatThrownBy(() -> HEADER.checkOwner("f", HEADER.storeId(), 43))
                .hasMessageContaining("file id");
        assertThatThrownBy(() -> HEADER.checkOwner("f", 1, 42)).hasMessageContaining("store id");
        FileHeader other = new FileHeader("component", 3, 0, HEADER.storeId(), 41);
        assertThatThrownBy(() -> FOOTER.checkOwner("f", 10_000, other))
                .hasMessageContaining("file id");
    }

    @Test
    void aPayloadIsCheckedAgainstItsFooter() {
        MemorySegment payload =
                MemorySegment.ofArray("table of contents".getBytes(StandardCharsets.UTF_8));
        int checksum = new Crc32c().compute(payload, 0, payload.byteSize());
        FileFooter footer = new FileFooter(64, payload.byteSize(), checksum, 1, 2);
        footer.checkPayload("f", payload, 0);
        payload.set(Bytes.U8, 3, (byte) 'x');
        assertThatThrownBy(() -> footer.checkPayload("f", payload, 0))
                .isInstanceOf(CorruptionException.class);
    }

    @Test
    void theChecksumIsTheMaskedCrc32cOfAnyKindOfSegment() {
        byte[] bytes = "123456789".getBytes(StandardCharsets.US_ASCII);
        int expected = Crc32c.mask(0xE3069283); // the published check value of CRC-32C
        Crc32c crc = new Crc32c();
        assertThat(crc.compute(MemorySegment.ofArray(bytes), 0, 9)).isEqualTo(expected);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(30);
            MemorySegment.copy(bytes, 0, segment, Bytes.U8, 5, 9);
            assertThat(crc.compute(segment, 5, 9)).isEqualTo(expected);
            assertThat(crc.begin().update(segment, 5, 4).update(segment, 9, 5).value())
                    .isEqualTo(expected);
            assertThat(crc.compute(segment, 3, 0)).isEqualTo(Crc32c.mask(0));
        }
        CRC32C plain = new CRC32C();
        plain.update(new byte[] {8, 7, 6, 5, 4, 3, 2, 1, 0x0d, 0x0c, 0x0b, 0x0a});
        assertThat(crc.begin()
                        .updateLong(0x0102030405060708L)
                        .updateInt(0x0a0b0c0d)
                        .value())
                .isEqualTo(Crc32c.mask((int) plain.getValue()));
    }

    @Test
    void numbersAndRangesAreTakenInOrder() {
        SplittableRandom random = new SplittableRandom(1);
        Crc32c crc = new Crc32c();
        for (int run = 0; run < 200; run++) {
            ByteSink all = new ByteSink(64, 1 << 20);
            crc.begin();
            for (int i = random.nextInt(30); i > 0; i--) {
                long value = random.nextLong();
                switch (random.nextInt(3)) {
                    case 0 -> {
                        crc.updateLong(value);
                        all.putLong(value);
                    }
                    case 1 -> {
                        crc.updateInt((int) value);
                        all.putInt((int) value);
                    }
                    default -> {
                        byte[] bytes = new byte[random.nextInt(9)];
                        random.nextBytes(bytes);
                        crc.update(MemorySegment.ofArray(bytes), 0, bytes.length);
                        all.putBytes(bytes);
                    }
                }
            }
            int stepwise = crc.value();
            assertThat(stepwise)
                    .isEqualTo(new Crc32c().compute(all.segment(), 0, all.length()))
                    .isEqualTo(crc.value());
        }
    }

    @Test
    void noRunOfZerosHasTheChecksumZero() {
        MemorySegment zeros = MemorySegment.ofArray(new byte[70_000]);
        Crc32c crc = new Crc32c();
        for (int length = 0; length < 70_000; length += length < 5_000 ? 1 : 997) {
            assertThat(crc.compute(zeros, 0, length)).isNotZero();
        }
    }

    /**
     * The tables in the Javadoc are the golden files' key; here they are again, next to the
     * constants.
     */
    @Test
    void theConstantsAreThoseOfTheTables() {
        Map<Integer, Integer> header = new TreeMap<>();
        header.put(0, FileHeader.MAGIC_OFFSET);
        header.put(8, FileHeader.FORMAT_OFFSET);
        header.put(24, FileHeader.VERSION_OFFSET);
        header.put(26, FileHeader.FLAGS_OFFSET);
        header.put(28, FileHeader.ZERO_OFFSET);
        header.put(32, FileHeader.STORE_ID_OFFSET);
        header.put(40, FileHeader.FILE_ID_OFFSET);
        header.put(48, FileHeader.MORE_ZERO_OFFSET);
        header.put(60, FileHeader.CHECKSUM_OFFSET);
        Map<Integer, Integer> footer = new TreeMap<>();
        footer.put(0, FileFooter.PAYLOAD_OFFSET_OFFSET);
        footer.put(8, FileFooter.PAYLOAD_BYTES_OFFSET);
        footer.put(16, FileFooter.STORE_ID_OFFSET);
        footer.put(24, FileFooter.FILE_ID_OFFSET);
        footer.put(32, FileFooter.PAYLOAD_CHECKSUM_OFFSET);
        footer.put(36, FileFooter.ZERO_OFFSET);
        footer.put(52, FileFooter.CHECKSUM_OFFSET);
        footer.put(56, FileFooter.MAGIC_OFFSET);
        assertThat(header).allSatisfy((table, constant) -> assertThat(constant).isEqualTo(table));
        assertThat(footer).allSatisfy((table, constant) -> assertThat(constant).isEqualTo(table));
        assertThat(FileFooter.MAGIC_OFFSET + 8).isEqualTo(FileFooter.BYTES);
    }

    private static MemorySegment headerBytes() {
        MemorySegment bytes = MemorySegment.ofArray(new byte[FileHeader.BYTES]);
        HEADER.write(bytes.fill((byte) 0xFF), 0);
        return bytes;
    }

    private static MemorySegment footerBytes() {
        MemorySegment bytes = MemorySegment.ofArray(new byte[FileFooter.BYTES]);
        FOOTER.write(bytes.fill((byte) 0xFF), 0);
        return bytes;
    }

    private static MemorySegment flipped(MemorySegment bytes, int bit) {
        int at = bit / 8;
        bytes.set(Bytes.U8, at, (byte) (bytes.get(Bytes.U8, at) ^ (1 << (bit % 8))));
        return bytes;
    }

    /** Sixteen bytes a line, as the golden files are kept. */
    private static String hex(MemorySegment bytes) {
        StringBuilder text = new StringBuilder();
        byte[] all = bytes.toArray(Bytes.U8);
        for (int at = 0; at < all.length; at += 16) {
            text.append(HexFormat.ofDelimiter(" ").formatHex(all, at, at + 16)).append('\n');
        }
        return text.toString();
    }

    private static String golden(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(
                EnvelopeTest.class.getResourceAsStream("/golden/" + name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
