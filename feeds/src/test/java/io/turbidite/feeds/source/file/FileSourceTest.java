package io.turbidite.feeds.source.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.DamagedSourceException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;

class FileSourceTest {
    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    static byte[] gzip(byte[] bytes) {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(bytes);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return compressed.toByteArray();
    }

    private static byte[] content(SourceStream stream) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        byte[] step = new byte[777];
        for (int count = stream.read(step, 0, step.length);
                count >= 0;
                count = stream.read(step, 0, step.length)) {
            content.write(step, 0, count);
        }
        return content.toByteArray();
    }

    private byte[] content(String name) {
        FileSource source = FileSource.open(disk, name);
        try (SourceStream stream = source.read(source.files().getFirst())) {
            return content(stream);
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(length).nextBytes(bytes);
        return bytes;
    }

    @Test
    void aFileIsReadAsItIsAndGzipUncompressedWhateverItsName() {
        byte[] bytes = random(300_000);
        disk.put("a.csv", bytes);
        disk.put("b.csv", gzip(bytes));
        disk.put("empty", new byte[0]);
        disk.put("one", new byte[] {0x1f});
        assertThat(content("a.csv")).isEqualTo(bytes);
        assertThat(content("b.csv")).isEqualTo(bytes);
        assertThat(content("empty")).isEmpty();
        assertThat(content("one")).containsExactly(0x1f);
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void membersOfAGzipFileFollowOneAnother() {
        byte[] first = gzip("one\n".getBytes(StandardCharsets.UTF_8));
        byte[] second = gzip(random(200_000));
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        disk.put("two.gz", both);
        assertThat(content("two.gz")).hasSize(4 + 200_000).startsWith('o', 'n', 'e', '\n');
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            joined.writeBytes(part);
        }
        return joined.toByteArray();
    }

    /** What was read before the damage, and that it was met. */
    private byte[] contentBeforeDamage(String name) {
        FileSource source = FileSource.open(disk, name);
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        try (SourceStream stream = source.read(source.files().getFirst())) {
            byte[] step = new byte[777];
            assertThatThrownBy(() -> {
                        for (int count = stream.read(step, 0, step.length);
                                count >= 0;
                                count = stream.read(step, 0, step.length)) {
                            content.write(step, 0, count);
                        }
                    })
                    .as(name)
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining(name);
        }
        return content.toByteArray();
    }

    @Test
    void aLaterMemberThatIsCutOrDamagedAnywhereIsDamage() {
        byte[] first = "one\n".getBytes(StandardCharsets.UTF_8);
        byte[] one = gzip(first);
        byte[] two = gzip(random(3_000));
        for (int length = 1; length < two.length; length++) {
            disk.put("cut.gz", join(one, Arrays.copyOf(two, length)));
            assertThat(contentBeforeDamage("cut.gz")).as("cut at %d", length).isEqualTo(first);
        }
        for (int at = 0; at < 10; at++) {
            for (int bit = 0; bit < 8; bit++) {
                boolean harmless = at >= 4 || (at == 3 && bit == 0); // time, level, system; text
                byte[] flipped = two.clone();
                flipped[at] ^= (byte) (1 << bit);
                disk.put("flipped.gz", join(one, flipped));
                if (harmless) {
                    assertThat(content("flipped.gz")).hasSize(3_004);
                } else {
                    assertThat(contentBeforeDamage("flipped.gz")).isEqualTo(first);
                }
            }
        }
        disk.put("garbage.gz", join(one, "garbage".getBytes(StandardCharsets.UTF_8)));
        assertThat(contentBeforeDamage("garbage.gz")).isEqualTo(first);
        assertThatThrownBy(() -> content("garbage.gz"))
                .isInstanceOfSatisfying(
                        CorruptionException.class,
                        e -> assertThat(e.offset()).isEqualTo(one.length + 1));
    }

    @Test
    void zerosBehindTheLastMemberAreNoDamageButWhatFollowsThemIs() {
        byte[] one = gzip("one\n".getBytes(StandardCharsets.UTF_8));
        for (int zeros : new int[] {1, 9, 512, 200_000}) {
            disk.put("padded.gz", join(one, one, new byte[zeros]));
            assertThat(content("padded.gz")).hasSize(8);
            disk.put("more.gz", join(one, new byte[zeros], one));
            assertThat(contentBeforeDamage("more.gz")).hasSize(4);
        }
    }

    @Test
    void headersMayHaveAllThatHeadersMayHave() {
        byte[] plain = gzip("one\n".getBytes(StandardCharsets.UTF_8));
        byte[] start = Arrays.copyOf(plain, 10);
        start[3] = 2 + 4 + 8 + 16;
        byte[] header = join(
                start,
                new byte[] {3, 0, 'a', 'b', 'c'},
                "name\0comment\0".getBytes(StandardCharsets.UTF_8));
        CRC32 crc = new CRC32();
        crc.update(header);
        byte[] sum = {(byte) crc.getValue(), (byte) (crc.getValue() >> 8)};
        byte[] rest = Arrays.copyOfRange(plain, 10, plain.length);
        disk.put("rich.gz", join(plain, header, sum, rest));
        assertThat(content("rich.gz")).hasSize(8);
        sum[1] ^= 4;
        disk.put("wrong.gz", join(plain, header, sum, rest));
        assertThat(contentBeforeDamage("wrong.gz")).hasSize(4);
    }

    @Test
    void skippingEndsWhereReadingWould() {
        byte[] bytes = random(300_000);
        disk.put("plain", bytes);
        disk.put("gzip", gzip(bytes));
        for (String name : new String[] {"plain", "gzip"}) {
            for (int skip : new int[] {0, 1, 2, 3, 70_000, 299_999, 300_000}) {
                FileSource source = FileSource.open(disk, name);
                try (SourceStream stream = source.read(source.files().getFirst())) {
                    assertThat(stream.skip(skip)).isEqualTo(skip);
                    assertThat(content(stream))
                            .as(name + " " + skip)
                            .isEqualTo(Arrays.copyOfRange(bytes, skip, bytes.length));
                }
            }
            FileSource source = FileSource.open(disk, name);
            try (SourceStream stream = source.read(source.files().getFirst())) {
                assertThat(stream.skip(400_000)).isEqualTo(300_000);
            }
        }
    }

    @Test
    void damagedGzipIsCorruptionWithFileAndOffset() {
        byte[] bytes = gzip(random(200_000));
        disk.put("cut.gz", Arrays.copyOf(bytes, bytes.length / 2));
        assertThatThrownBy(() -> content("cut.gz"))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("cut.gz");
        byte[] flipped = bytes.clone();
        flipped[1000] ^= 1;
        disk.put("flipped.gz", flipped);
        assertThatThrownBy(() -> content("flipped.gz")).isInstanceOf(CorruptionException.class);
        disk.put("head.gz", new byte[] {0x1f, (byte) 0x8b, 1});
        assertThatThrownBy(() -> content("head.gz")).isInstanceOf(CorruptionException.class);
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void nothingOfAMemberIsGivenOutBeforeItsChecksumIsRight() {
        byte[] bytes = random(200_000);
        byte[] good = gzip(bytes);
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 100; round++) {
            byte[] bad = good.clone();
            bad[random.nextInt(10, bad.length)] ^= (byte) (1 << random.nextInt(8));
            disk.put("a.gz", bad);
            assertThat(contentBeforeDamage("a.gz")).isEmpty();
        }
        disk.put("a.gz", good);
        FileSource source = FileSource.open(disk, "a.gz");
        try (SourceStream stream = source.read(source.files().getFirst())) {
            assertThat(stream.settledBytes()).isZero();
            assertThat(stream.head().byteCount()).isZero();
            assertThat(stream.read(new byte[777], 0, 777)).isEqualTo(777);
            assertThat(stream.settledBytes()).isEqualTo(good.length);
            assertThat(stream.head()).isEqualTo(source.head(source.files().getFirst(), 4096));
        }
    }

    /** Whatever happens to a file: what comes out is members as they were, one after the other. */
    @Test
    void whatComesOutOfAManglingIsWholeMembers() {
        long seed = Seeds.of("FileSourceTest");
        SplittableRandom random = new SplittableRandom(seed);
        List<byte[]> contents = List.of(random(700), new byte[0], random(90), random(5_000));
        byte[][] members = contents.stream().map(FileSourceTest::gzip).toArray(byte[][]::new);
        byte[] good = join(members);
        int damagedCount = 0;
        for (int round = 0; round < 2_000; round++) {
            String as = "%s round %d".formatted(Seeds.replay("FileSourceTest", seed), round);
            int at = random.nextInt(2, good.length);
            byte[] before = Arrays.copyOf(good, at);
            byte[] behind = Arrays.copyOfRange(good, at, good.length);
            byte[] noise = new byte[random.nextInt(1, 40)];
            random.nextBytes(noise);
            int lost = Math.min(behind.length, noise.length);
            byte[] bad = switch (random.nextInt(5)) {
                case 0 -> join(before, noise, behind);
                case 1 -> join(before, Arrays.copyOfRange(behind, lost, behind.length));
                case 2 -> join(before, new byte[noise.length], behind);
                case 3 -> join(before, noise, Arrays.copyOfRange(behind, lost, behind.length));
                default -> join(before, Arrays.copyOfRange(good, random.nextInt(at), at));
            };
            disk.put("a.gz", bad);
            FileSource source = FileSource.open(disk, "a.gz");
            ByteArrayOutputStream content = new ByteArrayOutputStream();
            try (SourceStream stream = source.read(source.files().getFirst())) {
                byte[] step = new byte[random.nextInt(1, 3_000)];
                for (int count = 0; count >= 0; count = stream.read(step, 0, step.length)) {
                    content.write(step, 0, count);
                }
            } catch (DamagedSourceException told) {
                damagedCount++;
            }
            assertThat(isOfMembers(content.toByteArray(), contents)).as(as).isTrue();
        }
        assertThat(damagedCount).isGreaterThan(1_500);
        assertThat(disk.openHandleCount()).isZero();
    }

    private static boolean isOfMembers(byte[] content, List<byte[]> members) {
        int at = 0;
        boolean found = true;
        while (at < content.length && found) {
            found = false;
            for (byte[] member : members) {
                int end = at + member.length;
                if (member.length > 0
                        && end <= content.length
                        && Arrays.equals(content, at, end, member, 0, member.length)) {
                    at = end;
                    found = true;
                    break;
                }
            }
        }
        return found;
    }

    @Test
    void aStreamBeginsAgainAnywhere() {
        byte[] bytes = random(300_000);
        disk.put("plain", bytes);
        disk.put("one", gzip(bytes));
        disk.put(
                "two",
                join(
                        gzip(Arrays.copyOf(bytes, 150_000)),
                        gzip(Arrays.copyOfRange(bytes, 150_000, 300_000)),
                        new byte[9]));
        for (String name : new String[] {"plain", "one", "two"}) {
            FileSource source = FileSource.open(disk, name);
            long fileBytes = source.files().getFirst().byteCount();
            try (SourceStream stream = source.read(source.files().getFirst())) {
                for (int skip : new int[] {70_000, 0, 200_000, 300_000, 5}) {
                    assertThat(stream.skip(skip)).as(name).isEqualTo(skip);
                    assertThat(content(stream))
                            .as(name + " " + skip)
                            .isEqualTo(Arrays.copyOfRange(bytes, skip, bytes.length));
                    stream.restart();
                }
                stream.prove();
                assertThat(content(stream)).as(name).isEqualTo(bytes);
            }
            try (SourceStream stream = source.read(source.files().getFirst())) {
                stream.prove();
                assertThat(stream.fileBytesRead())
                        .isEqualTo(name.equals("plain") ? 0 : fileBytes / 2);
                assertThat(content(stream)).as(name).isEqualTo(bytes);
                assertThat(stream.fileBytesRead()).isBetween(fileBytes - 9, fileBytes);
            }
        }
    }

    @Test
    void allMembersAreProvenAtOnceForWhoAsks() {
        byte[] one = gzip(random(1_000));
        byte[] two = gzip(random(200_000));
        two[two.length - 7] ^= 1;
        disk.put("a.gz", join(one, two));
        FileSource source = FileSource.open(disk, "a.gz");
        try (SourceStream stream = source.read(source.files().getFirst())) {
            assertThatThrownBy(stream::prove)
                    .isInstanceOf(DamagedSourceException.class)
                    .hasMessageEndingWith("is a member whose checksum is wrong");
        }
        try (SourceStream stream = source.glance(source.files().getFirst())) {
            assertThat(stream.skip(150_000)).isEqualTo(150_000);
        }
    }

    /** Also one that was exchanged for another whole one. */
    @Test
    void aGzipFileThatIsWrittenOverWhileItIsReadIsDamaged(@TempDir Path directory)
            throws IOException {
        Path file = directory.resolve("a.csv.gz");
        byte[] bytes = random(600_000);
        byte[] other = bytes.clone();
        Arrays.fill(other, 300_000, 600_000, (byte) 'x');
        Files.write(file, gzip(bytes));
        FileSource source = FileSource.open(file);
        try (SourceStream stream = source.read(source.files().getFirst())) {
            assertThat(stream.read(new byte[777], 0, 777)).isEqualTo(777);
            Files.write(file, gzip(other));
            ByteArrayOutputStream content = new ByteArrayOutputStream();
            assertThatThrownBy(() -> {
                        byte[] step = new byte[777];
                        for (int count = stream.read(step, 0, step.length);
                                count >= 0;
                                count = stream.read(step, 0, step.length)) {
                            content.write(step, 0, count);
                        }
                    })
                    .isInstanceOf(DamagedSourceException.class)
                    .hasMessageEndingWith(
                            "other than it was when it was checked just before: the file is being written");
            assertThat(Arrays.copyOfRange(bytes, 777, bytes.length))
                    .startsWith(content.toByteArray());
        }
    }

    /** A position with the new file's head would make the next run go on in the middle of that. */
    @Test
    void theHeadOfAGzipFileIsOfWhatWasReadOfIt(@TempDir Path directory) throws IOException {
        byte[] content = random(5_000);
        Path file = directory.resolve("a.gz");
        Files.write(file, gzip(content));
        FileSource source = FileSource.open(file);
        FileSource.Head before = source.head(source.files().getFirst(), FileSource.HEAD_BYTES);
        byte[] other = new byte[content.length];
        new SplittableRandom(7).nextBytes(other);
        try (SourceStream stream = source.read(source.files().getFirst())) {
            stream.stopWhen(() -> {
                writeOver(file, gzip(other)); // it was read, and is being proven
                return false;
            });
            assertThat(content(stream)).isEqualTo(content);
            assertThat(stream.head()).isEqualTo(before);
        }
        assertThat(source.head(source.files().getFirst(), FileSource.HEAD_BYTES))
                .isNotEqualTo(before);
    }

    private static void writeOver(Path file, byte[] bytes) {
        try {
            Files.write(file, bytes);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aPlainFileThatIsCutWhileItIsReadHasNotEnded(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("a.csv");
        Files.write(file, random(300_000));
        FileSource source = FileSource.open(file);
        try (SourceStream stream = source.read(source.files().getFirst())) {
            assertThat(stream.read(new byte[777], 0, 777)).isEqualTo(777);
            Files.write(file, random(100_000));
            assertThatThrownBy(() -> content(stream))
                    .isInstanceOf(DamagedSourceException.class)
                    .hasMessageEndingWith(
                            "a.csv at offset 100000 is damaged: file should be 300000 bytes long, as when it was opened, but is shorter");
        }
        FileSource grown = FileSource.open(file);
        Files.write(file, random(200_000));
        try (SourceStream stream = grown.read(grown.files().getFirst())) {
            assertThat(content(stream)).hasSize(200_000);
        }
    }

    @Test
    void damageOfGzipIsToldInASentence() {
        byte[] one = gzip("one\n".getBytes(StandardCharsets.UTF_8));
        byte[] zeroed = one.clone();
        zeroed[0] = 0;
        byte[] otherwise = one.clone();
        otherwise[one.length - 8] ^= 1;
        byte[] longer = one.clone();
        longer[one.length - 1] ^= 1;
        told(Arrays.copyOf(one, 12), "cut in the middle of a member");
        told(Arrays.copyOf(one, one.length - 3), "cut in a member's header or trailer");
        told(join(one, zeroed), "neither a member nor zeros alone behind a member");
        told(join(one, new byte[] {'x'}), "neither a member nor zeros alone behind a member");
        told(otherwise, "a member whose checksum is wrong");
        told(longer, "a member whose length is wrong");
    }

    private void told(byte[] bytes, String found) {
        disk.put("a.gz", bytes);
        assertThatThrownBy(() -> content("a.gz"))
                .hasMessageEndingWith(
                        "is damaged: compressed content should be gzip but is " + found);
    }

    @Test
    void aDirectoryIsItsFilesInTheOrderOfTheirNames() {
        disk.createDirectories("in/sub");
        disk.put("in/b.csv", random(3));
        disk.put("in/a.csv", random(5));
        disk.put("in/.hidden", random(1));
        FileSource source = FileSource.open(disk, "in");
        assertThat(source.files())
                .containsExactly(
                        new SourceFile("a.csv", "in/a.csv", 5),
                        new SourceFile("b.csv", "in/b.csv", 3));
    }

    @Test
    void whatIsNotThereIsRefused() {
        disk.createDirectories("empty");
        assertThatThrownBy(() -> FileSource.open(disk, "none.csv"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("none.csv");
        assertThatThrownBy(() -> FileSource.open(disk, "empty"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("holds no file");
    }

    private FileSource.Head head(String name) {
        FileSource source = FileSource.open(disk, name);
        try (SourceStream stream = source.read(source.files().getFirst())) {
            return stream.head();
        }
    }

    @Test
    void theHeadOfAFileStaysWhenItGrowsAndTellsItFromAnother() {
        disk.put("a", random(5_000));
        FileSource source = FileSource.open(disk, "a");
        FileSource.Head head = head("a");
        assertThat(head.byteCount()).isEqualTo(4096);
        byte[] grown = Arrays.copyOf(random(5_000), 6_000);
        disk.put("a", grown);
        assertThat(source.head(source.files().getFirst(), 4096)).isEqualTo(head);
        grown[17]++;
        disk.put("a", grown);
        assertThat(source.head(source.files().getFirst(), 4096)).isNotEqualTo(head);
    }
}
