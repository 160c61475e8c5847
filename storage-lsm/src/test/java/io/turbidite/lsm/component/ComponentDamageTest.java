package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.Entries.Entry;
import io.turbidite.lsm.component.Entries.KeyShape;
import io.turbidite.lsm.component.Entries.ValueShape;
import io.turbidite.lsm.entry.Found;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.function.LongUnaryOperator;

/**
 * Whatever happens to the bytes of a component: the right answer or an error, and verify finds it.
 */
class ComponentDamageTest {
    private static final String TEST = "ComponentDamageTest";

    private final SplittableRandom random = new SplittableRandom(Seeds.of(TEST));
    private final Entries entries =
            Entries.generate(random, 60, KeyShape.SHORT_TEXT, ValueShape.ANY_LENGTH);

    @ParameterizedTest
    @EnumSource(Compression.class)
    void everyFlippedByteIsFound(Compression compression) {
        byte[] sound = file(ComponentOptions.primary(), compression);
        int step = Tier.count(127, 16, 1);
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (int at = random.nextInt(step); at < sound.length; at += step) {
                byte[] damaged = sound.clone();
                damaged[at] ^= (byte) (1 << random.nextInt(8));
                checkFoundOut(damaged, cache, "byte " + at);
            }
        }
    }

    @Test
    void everyFlippedBitOfHeaderContentsAndFooterIsFound() {
        everyFlippedBitIsFound(file(ComponentOptions.primary(), Compression.NONE));
    }

    @Test
    void everyFlippedBitOfAFilterWithBoxesIsFound() throws IOException {
        everyFlippedBitIsFound(
                HexFormat.of().parseHex(ComponentFormatTest.golden(ComponentFormatTest.FILTER)));
    }

    private static void everyFlippedBitIsFound(byte[] sound) {
        int contents = contentsOffset(sound);
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (int at = 0; at < sound.length; at++) {
                if (at >= FileHeader.BYTES && at < contents) {
                    continue;
                }
                for (int bit = 0; bit < 8; bit++) {
                    byte[] damaged = sound.clone();
                    damaged[at] ^= (byte) (1 << bit);
                    SimDisk disk = disk(damaged);
                    assertThatThrownBy(() -> Components.open(disk, cache))
                            .as("bit %d of byte %d", bit, at)
                            .isInstanceOf(CorruptionException.class);
                    assertThat(disk.openHandles()).isEmpty();
                }
            }
        }
    }

    @Test
    void aFileOfAnotherLengthIsDamaged() {
        byte[] sound = file(ComponentOptions.primary(), Compression.NONE);
        int step = Tier.count(181, 23, 1);
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (int length = 0; length < sound.length + 100; length += step) {
                if (length == sound.length) {
                    continue;
                }
                SimDisk disk = disk(Arrays.copyOf(sound, length));
                assertThatThrownBy(() -> Components.open(disk, cache))
                        .as("%d of %d bytes", length, sound.length)
                        .isInstanceOf(CorruptionException.class);
            }
        }
    }

    /** What a rebuild of an index looks at before it gives the index up. */
    @Test
    void each_damaged_leaf_page_is_found_by_its_checksum_alone() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, ComponentOptions.primary().withPageBytes(4096), entries);
        byte[] sound = disk.content(Components.NAME);
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            List<CorruptionException> none = new ArrayList<>();
            component.verifyPages(none::add);
            assertThat(none).isEmpty();
            Fences fences = component.recordFences();
            assertThat(fences.pageCount()).isGreaterThan(1);
            for (int page = 0; page < fences.pageCount(); page++) {
                byte[] damaged = sound.clone();
                int at = random.nextInt(fences.blockBytes(page));
                damaged[(int) fences.fileOffset(page) + at] ^= (byte) (1 << random.nextInt(8));
                try (DiskComponent other = Components.open(disk(damaged), cache)) {
                    List<CorruptionException> found = new ArrayList<>();
                    other.verifyPages(found::add);
                    assertThat(found).as("page %d, byte %d", page, at).hasSize(1);
                }
            }
        }
    }

    @Test
    void swappedPagesAreFound() {
        Entries even = Entries.generate(random, 200, KeyShape.LONGS, ValueShape.SAME_LENGTH);
        List<Entry> noDeletes =
                even.sorted.stream().filter(e -> !e.antimatter()).toList();
        Entries same = Entries.of(noDeletes);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, ComponentOptions.secondary().withPageBytes(4096), same);
        byte[] bytes = disk.content(Components.NAME);
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            Fences fences = component.recordFences();
            int length = fences.blockBytes(1);
            assertThat(fences.pageCount()).isGreaterThan(4);
            assertThat(fences.blockBytes(2)).isEqualTo(length);
            byte[] swapped = bytes.clone();
            int first = (int) fences.fileOffset(1);
            int second = (int) fences.fileOffset(2);
            System.arraycopy(bytes, first, swapped, second, length);
            System.arraycopy(bytes, second, swapped, first, length);
            SimDisk other = disk(swapped);
            try (DiskComponent damaged = Components.open(other, cache)) {
                assertThat(Components.verify(damaged)).hasSize(2);
                assertThatThrownBy(() -> readAll(damaged, same))
                        .isInstanceOf(CorruptionException.class)
                        .hasMessageContaining("record leaf page 1 number");
            }
        }
    }

    @Test
    void aPageOfAnotherFileIsFound() {
        byte[] sound = file(ComponentOptions.secondary(), Compression.NONE);
        byte[] foreign = sound.clone();
        // the same page as the file with the number 18 would have it
        int at = FileHeader.BYTES;
        MemorySegment block = MemorySegment.ofArray(foreign);
        int blockBytes = Block.HEADER_BYTES + block.get(Bytes.I32, at + Block.PAYLOAD_BYTES_OFFSET);
        block.set(Bytes.I64, at + Block.FILE_ID_OFFSET, 18);
        seal(block, at, blockBytes);
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk(foreign), cache)) {
            assertThatThrownBy(() -> readAll(component, entries))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining("file id");
        }
    }

    @Test
    void anotherOwnersFileIsDamaged() {
        SimDisk disk = disk(file(ComponentOptions.primary(), Compression.NONE));
        ComponentHeader own = Components.HEADER;
        List<ComponentHeader> others = List.of(
                new ComponentHeader(1, 17, 2, 1, 3),
                new ComponentHeader(own.storeId(), 16, 2, 1, 3),
                new ComponentHeader(own.storeId(), 17, 5, 1, 3),
                new ComponentHeader(own.storeId(), 17, 2, 0, 3),
                new ComponentHeader(own.storeId(), 17, 2, 1, 4));
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (ComponentHeader other : others) {
                assertThatThrownBy(() -> DiskComponent.open(disk, Components.NAME, other, cache))
                        .isInstanceOf(CorruptionException.class);
            }
        }
    }

    @Test
    void aNewerVersionIsNamed() {
        byte[] bytes = file(ComponentOptions.primary(), Compression.NONE);
        new FileHeader("component", 99, 0, Components.HEADER.storeId(), 17)
                .write(MemorySegment.ofArray(bytes), 0);
        try (BufferCache cache = Components.cache(8 << 20)) {
            assertThatThrownBy(() -> Components.open(disk(bytes), cache))
                    .isInstanceOf(FormatVersionException.class)
                    .hasMessageContaining("component version 99");
        }
    }

    @Test
    void bytesThatAreNoComponentAreDamage() {
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (int i = 0; i < 300; i++) {
                byte[] bytes = new byte[random.nextInt(2_000)];
                random.nextBytes(bytes);
                assertThatThrownBy(() -> Components.open(disk(bytes), cache))
                        .isInstanceOf(CorruptionException.class);
            }
        }
    }

    @Test
    void verifyFindsWhatAFaultyWriterWrites() {
        // a version in the key tree that the record tree does not have
        expectFinding(
                "in the key tree", file -> forgeGroup(file, Block.Kind.KEY_LEAF, 0, at -> at + 2));
        // a page whose versions are all of the future
        expectFinding(
                "outside",
                file -> forgeGroup(file, Block.Kind.RECORD_LEAF, 0, at -> at + (1L << 40)));
        // a third head that is the base or near it, so that its key belongs before the second
        expectFinding("comes behind", file -> {
            int at = find(file, Block.Kind.RECORD_LEAF) + firstGroup(file, Block.Kind.RECORD_LEAF);
            MemorySegment content = MemorySegment.ofArray(file);
            int headBits = content.get(Bytes.U8, at + 6L);
            long shape = content.get(Bytes.I64, at + 8L);
            int prefixAndBase = (int) (shape & 0x7FF) + (int) (shape >>> 22 & 7) + 1;
            forgeGroup(
                    file,
                    Block.Kind.RECORD_LEAF,
                    16 + prefixAndBase + (2 * headBits + 7) / 8,
                    heads -> 0L);
        });
        // a first head that is not the base
        expectFinding("is not the base", file -> {
            int at = find(file, Block.Kind.RECORD_LEAF) + firstGroup(file, Block.Kind.RECORD_LEAF);
            long shape = MemorySegment.ofArray(file).get(Bytes.I64, at + 8L);
            int prefixAndBase = (int) (shape & 0x7FF) + (int) (shape >>> 22 & 7) + 1;
            forgeGroup(file, Block.Kind.RECORD_LEAF, 16 + prefixAndBase, heads -> heads | 1);
        });
        // a directory that sends searches to the wrong group
        expectFinding(
                "head in the directory",
                file -> forge(file, Block.Kind.RECORD_LEAF, 64, at -> at + 1));
        // a page that lost the first word of its first eight Bloom blocks' bits
        expectFinding("not in the Bloom filter", file -> {
            for (int word = 0; word < 8; word++) {
                forge(file, Block.Kind.BLOOM, 32 + 64 + word * 8, at -> 0L);
            }
        });
        // a fence that promises the page before more than it has
        expectFinding(
                "fence", file -> forge(file, Block.Kind.RECORD_INTERIOR, 64 + 8 + 7, at -> at ^ 1));
        // a block of another kind in the place of a page
        expectFinding(
                "record leaf page 0 kind",
                file -> forge(file, Block.Kind.RECORD_LEAF, Block.KIND_OFFSET, at -> at ^ 3));
        // a page that is said to lie where another does
        expectFinding(
                "recorded in an interior",
                file -> forge(file, Block.Kind.RECORD_INTERIOR, fileOffsets(file), at -> at + 8));
        // counts
        expectFinding("anti-matter entries", file -> forgeContents(file, 52));
        expectFinding("distinct keys", file -> forgeContents(file, 60));
    }

    /** Where the second file offset stands in the record interior. */
    private static int fileOffsets(byte[] content) {
        int at = find(content, Block.Kind.RECORD_INTERIOR);
        int pageCount = MemorySegment.ofArray(content).get(Bytes.I32, at + Block.HEADER_BYTES);
        return 64 + 16 * pageCount + 8;
    }

    private void expectFinding(String finding, Consumer<byte[]> forger) {
        byte[] forged = file(ComponentOptions.primary(), Compression.NONE);
        forger.accept(forged);
        try (BufferCache cache = Components.cache(8 << 20)) {
            String findings;
            try (DiskComponent component = Components.open(disk(forged), cache)) {
                findings = Components.verify(component).toString();
            } catch (CorruptionException e) {
                findings = String.valueOf(e.getMessage());
            }
            assertThat(findings).contains(finding);
        }
    }

    /** Changes eight bytes of the first block of a kind and seals it again. */
    static void forge(byte[] content, Block.Kind kind, int offset, LongUnaryOperator to) {
        MemorySegment file = MemorySegment.ofArray(content);
        int at = find(content, kind);
        int blockBytes = Block.HEADER_BYTES + file.get(Bytes.I32, at + Block.PAYLOAD_BYTES_OFFSET);
        long before = file.get(Bytes.I64, at + offset);
        file.set(Bytes.I64, at + offset, to.applyAsLong(before));
        seal(file, at, blockBytes);
    }

    /** As {@link #forge}, four bytes. */
    static void forgeInt(byte[] content, Block.Kind kind, int offset, IntUnaryOperator to) {
        MemorySegment file = MemorySegment.ofArray(content);
        int at = find(content, kind);
        int blockBytes = Block.HEADER_BYTES + file.get(Bytes.I32, at + Block.PAYLOAD_BYTES_OFFSET);
        int before = file.get(Bytes.I32, at + offset);
        file.set(Bytes.I32, at + offset, to.applyAsInt(before));
        seal(file, at, blockBytes);
    }

    /** As {@link #forge}, from the start of the first group of the first page of a kind. */
    private static void forgeGroup(
            byte[] content, Block.Kind kind, int offset, LongUnaryOperator to) {
        forge(content, kind, firstGroup(content, kind) + offset, to);
    }

    /** Where the first group of the first page of a kind starts on the page. */
    private static int firstGroup(byte[] content, Block.Kind kind) {
        MemorySegment file = MemorySegment.ofArray(content);
        int at = find(content, kind);
        int groupCount = file.get(Bytes.I32, at + 36L);
        return file.get(Bytes.I16, at + 64L + 8L * groupCount) & 0xFFFF;
    }

    /** The first block of a kind. */
    static int find(byte[] content, Block.Kind kind) {
        MemorySegment file = MemorySegment.ofArray(content);
        int at = FileHeader.BYTES;
        while (file.get(Bytes.U8, at + Block.KIND_OFFSET) != kind.code) {
            at += Block.HEADER_BYTES + file.get(Bytes.I32, at + Block.PAYLOAD_BYTES_OFFSET);
        }
        return at;
    }

    /** Takes one from a number of the table of contents and seals that. */
    private static void forgeContents(byte[] content, int offset) {
        int contents = contentsOffset(content);
        content[contents + offset]--;
        sealContents(content, contents);
    }

    private static void sealContents(byte[] content, int contents) {
        MemorySegment file = MemorySegment.ofArray(content);
        int end = content.length - FileFooter.BYTES;
        int checksum = new Crc32c().compute(file, contents, end - contents);
        ComponentHeader own = Components.HEADER;
        new FileFooter(contents, end - contents, checksum, own.storeId(), own.fileId())
                .write(file, end);
    }

    /** Damage that checksums do not see, as a writer with a fault would make it. */
    @Test
    void verifySurvivesWhatNoWriterWrites() {
        byte[] sound = file(ComponentOptions.primary(), Compression.NONE);
        int contents = contentsOffset(sound);
        int rounds = Tier.count(50, 400, 100_000);
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (int round = 0; round < rounds; round++) {
                byte[] forged = sound.clone();
                MemorySegment file = MemorySegment.ofArray(forged);
                int at = FileHeader.BYTES;
                int target = FileHeader.BYTES + random.nextInt(contents - FileHeader.BYTES);
                while (true) {
                    int blockBytes = Block.HEADER_BYTES
                            + file.get(Bytes.I32, at + Block.PAYLOAD_BYTES_OFFSET);
                    if (target < at + blockBytes) {
                        // most of the structure is at the beginning of a block
                        int reach = random.nextBoolean() ? Math.min(100, blockBytes) : blockBytes;
                        forged[at + 4 + random.nextInt(reach - 4)] = (byte) random.nextInt();
                        seal(file, at, blockBytes);
                        break;
                    }
                    at += blockBytes;
                }
                try (DiskComponent component = Components.open(disk(forged), cache)) {
                    Components.verify(component);
                } catch (CorruptionException e) {
                    assertThat(e.file()).isEqualTo(Components.NAME);
                } catch (FormatVersionException e) {
                    // a forged version under a right checksum reads as a newer release's (1 in
                    // 7,000)
                    assertThat(e).hasMessageStartingWith(Components.NAME);
                }
            }
        }
    }

    /** The table of contents, with checksums that are right. */
    @Test
    void openSurvivesAForgedTableOfContents() {
        byte[] sound = file(ComponentOptions.primary(), Compression.NONE);
        int contents = contentsOffset(sound);
        int end = sound.length - FileFooter.BYTES;
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (int round = 0; round < 400; round++) {
                byte[] forged = sound.clone();
                forged[contents + random.nextInt(end - contents)] = (byte) random.nextInt();
                sealContents(forged, contents);
                try (DiskComponent component = Components.open(disk(forged), cache)) {
                    Components.verify(component);
                } catch (StorageException e) {
                    assertThat(e).isInstanceOf(CorruptionException.class);
                }
            }
        }
    }

    private byte[] file(ComponentOptions options, Compression compression) {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, options.withPageBytes(4096).withCompression(compression), entries);
        return disk.content(Components.NAME);
    }

    private static SimDisk disk(byte[] content) {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.put(Components.NAME, content);
        return disk;
    }

    private static int contentsOffset(byte[] file) {
        MemorySegment bytes = MemorySegment.ofArray(file);
        return (int) FileFooter.read("f", file.length, bytes, file.length - FileFooter.BYTES)
                .payloadOffset();
    }

    private static void seal(MemorySegment file, int at, int blockBytes) {
        int checksum =
                new Crc32c().compute(file, at + Block.KIND_OFFSET, blockBytes - Block.KIND_OFFSET);
        file.set(Bytes.I32, at + Block.CHECKSUM_OFFSET, checksum);
    }

    /** Opens and reads; whoever gets that far without an error got everything right. */
    private void checkFoundOut(byte[] damaged, BufferCache cache, String what) {
        SimDisk disk = disk(damaged);
        try (DiskComponent component = Components.open(disk, cache)) {
            try {
                readAll(component, entries);
            } catch (CorruptionException e) {
                assertThat(e.file()).isEqualTo(Components.NAME);
            }
            assertThat(Components.verify(component)).as(what).isNotEmpty();
        } catch (CorruptionException e) {
            assertThat(e.file()).isEqualTo(Components.NAME);
        }
        assertThat(disk.openHandles()).isEmpty();
        assertThat(cache.statistics().pinnedFrameCount()).isZero();
    }

    private static void readAll(DiskComponent component, Entries entries) {
        try (TreeCursor cursor = component.cursor()) {
            for (Entry entry : entries.sorted) {
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.key().toByteArray()).isEqualTo(entry.key());
                assertThat(cursor.timestamp()).isEqualTo(entry.timestamp());
                assertThat(cursor.value().toByteArray()).isEqualTo(entry.value());
            }
            assertThat(cursor.next()).isFalse();
        }
        Found found = new Found(1 << 20);
        for (Entry entry : entries.sorted) {
            Slice key = entry.keySlice();
            int expected = entry.antimatter() ? Found.ANTIMATTER : Found.MATTER;
            assertThat(component.find(key, entry.timestamp(), found, false)).isEqualTo(expected);
            assertThat(component.findKey(key, entry.timestamp(), found)).isEqualTo(expected);
        }
    }
}
