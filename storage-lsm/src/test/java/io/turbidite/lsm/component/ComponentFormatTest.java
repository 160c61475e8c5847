package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.Entries.Entry;
import io.turbidite.lsm.rtree.WindowCursor;
import io.turbidite.lsm.rtree.WindowWork;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The archived files of this format version, and of those before, are read as they were written;
 * those of this one are still what is written.
 *
 * <p>They hold 200 keys in 4 KiB pages, with versions, anti-matter, key tree and Bloom filter.
 * {@code -Dgolden.print=true} prints what a new archive has to hold.
 */
class ComponentFormatTest {
    private static final String BOXES_3 = "component-v3-boxes.hex";

    /** Boxes around groups of 32 entries. */
    private static final String BOXES_4_32 = "component-v4-boxes.hex";

    /** Around groups of 16. */
    private static final String BOXES_4 = "component-v4-boxes-16.hex";

    private static final String BOXES_5 = "component-v5-boxes.hex";
    private static final String BOXES = "component-v6-boxes.hex";
    private static final String FILTER_4 = "component-v4-filter.hex";
    private static final String FILTER_5 = "component-v5-filter.hex";
    static final String FILTER = "component-v6-filter.hex";

    @ParameterizedTest
    @EnumSource(Compression.class)
    void theArchivedFilesAreReadAsTheyWereWritten(Compression compression) throws IOException {
        isRead(compression, golden(fileName(compression, 2)), 2);
        isRead(compression, golden(fileName(compression, 4)), 4);
        isRead(compression, golden(fileName(compression, 5)), 5);
        isRead(compression, golden(compression), ComponentMeta.VERSION);
    }

    private static void isRead(Compression compression, String file, int version) {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.put(Components.NAME, HexFormat.of().parseHex(file));
        Entries entries = entries();
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache);
                TreeCursor cursor = component.cursor()) {
            assertThat(component.options()).isEqualTo(options(compression));
            assertThat(component.filter())
                    .isEqualTo(version < 4 ? filterOfVersion2() : Components.filter());
            assertThat(component.id()).isEqualTo(entries.id());
            assertThat(Components.verify(component)).isEmpty();
            for (Entry entry : entries.sorted) {
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.key().toByteArray()).isEqualTo(entry.key());
                assertThat(cursor.timestamp()).isEqualTo(entry.timestamp());
                assertThat(cursor.isAntimatter()).isEqualTo(entry.antimatter());
                assertThat(cursor.value().toByteArray()).isEqualTo(entry.value());
            }
            assertThat(cursor.next()).isFalse();
        }
    }

    /** What is absent there may be unknown. */
    private static ComponentFilter filterOfVersion2() {
        return ComponentFilter.builder(2)
                .add(0, Slice.of(new byte[] {1, 2}))
                .add(0, Slice.of(new byte[] {7}))
                .addAbsent(1)
                .addUnknown(1)
                .build();
    }

    /** Points, a rectangle, what is absent and what is unknown. */
    @Test
    void aFilterWithBoxesIsReadAndStillWritten() throws IOException {
        RecordType type = RecordType.builder()
                .field("place", "point?")
                .field("area", "rectangle?")
                .field("n", "int32?")
                .build();
        List<KeySpec> fields = Stream.of("place", "area", "n", "n")
                .map(name -> KeySpec.of(type, List.of(name), "filter"))
                .toList();
        ComponentFilter filter = ComponentFilter.builder(fields)
                .add(0, Slice.of(fields.get(0).encode(new Point(-0.5, 51.5))))
                .add(0, Slice.of(fields.get(0).encode(new Point(2.25, 48.75))))
                .add(1, Slice.of(fields.get(1).encode(new Rectangle(0, -1, 2, 3))))
                .addAbsent(1)
                .add(2, Slice.of(fields.get(2).encode(7)))
                .addUnknown(2)
                .addAbsent(3)
                .build();
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Entries entries = Entries.of(List.of(new Entry(bytes("key"), 1_000, false, value(7))));
        Components.write(disk, options(Compression.NONE), entries, filter);
        String written = HexFormat.of().formatHex(disk.content(Components.NAME));
        if (Boolean.getBoolean("golden.print")) {
            System.out.println(FILTER + "\n" + written);
            return;
        }
        assertThat(written).isEqualTo(golden(FILTER));
        hasFilter(disk, filter);
        for (String archived : List.of(FILTER_4, FILTER_5)) {
            SimDisk old = new SimDisk(1, Profile.STRICT);
            old.put(Components.NAME, HexFormat.of().parseHex(golden(archived)));
            hasFilter(old, filter);
        }
    }

    private static void hasFilter(SimDisk disk, ComponentFilter filter) {
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            assertThat(component.filter()).isEqualTo(filter);
            assertThat(Components.verify(component)).isEmpty();
        }
    }

    /** Not for LZ4: another release of the library may compress better. */
    @Test
    void whatIsWrittenIsTheArchivedFile() throws IOException {
        for (Compression compression : Compression.values()) {
            SimDisk disk = new SimDisk(1, Profile.STRICT);
            Components.write(disk, options(compression), entries());
            String written = HexFormat.of().formatHex(disk.content(Components.NAME));
            if (Boolean.getBoolean("golden.print")) {
                System.out.println(fileName(compression) + "\n" + written);
            } else if (compression == Compression.NONE) {
                assertThat(written).isEqualTo(golden(compression));
            }
        }
    }

    /** An R-tree's component: 300 points around the globe, boxes around them. */
    @Test
    void anRTreesArchivedFileIsReadAndStillWritten() throws IOException {
        ComponentOptions options =
                ComponentOptions.secondary().withPageBytes(4_096).withBoxes(SpatialKind.POINT);
        List<Entry> points = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            ByteSink key = new ByteSink(64, 64);
            double x = i * 7919 % 3_600 / 10.0 - 180;
            double y = i * 104_729 % 1_800 / 10.0 - 90;
            SpatialKind.POINT.append(x, y, x, y, key);
            key.putLongBigEndian(i);
            byte[] bytes = key.asSlice(new Slice()).toByteArray();
            points.add(new Entry(bytes, 1_000 + i, i % 13 == 0, new byte[0]));
        }
        Entries entries = Entries.of(points);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, options, entries);
        String written = HexFormat.of().formatHex(disk.content(Components.NAME));
        if (Boolean.getBoolean("golden.print")) {
            System.out.println(BOXES + "\n" + written);
            return;
        }
        assertThat(written).isEqualTo(golden(BOXES));
        findsPoints(disk, options);
        for (String archived : List.of(BOXES_3, BOXES_4_32, BOXES_4, BOXES_5)) {
            SimDisk old = new SimDisk(1, Profile.STRICT);
            old.put(Components.NAME, HexFormat.of().parseHex(golden(archived)));
            findsPoints(old, options);
        }
    }

    private static void findsPoints(SimDisk disk, ComponentOptions options) {
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            assertThat(component.options()).isEqualTo(options);
            assertThat(Components.verify(component)).isEmpty();
            WindowSearch search =
                    new WindowSearch(SpatialKind.POINT, new Rectangle(-10, -10, 10, 10));
            List<Integer> found = new ArrayList<>();
            try (WindowCursor cursor = component.windowCursor(search, new WindowWork())) {
                while (cursor.next()) {
                    found.add(cursor.key().byteAt(cursor.keyLength() - 1)
                            | cursor.key().byteAt(cursor.keyLength() - 2) << 8);
                }
            }
            assertThat(found).containsExactlyInAnyOrder(293, 298);
        }
    }

    private static ComponentOptions options(Compression compression) {
        return ComponentOptions.primary().withPageBytes(4_096).withCompression(compression);
    }

    private static Entries entries() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            byte[] key = bytes("key" + i * 7919 % 1000);
            entries.add(new Entry(key, 1_000 + i, i % 13 == 0, value(i % 13 == 0 ? 0 : i % 60)));
            if (i % 10 == 0) {
                entries.add(new Entry(key, 500 + i, false, value(3)));
            }
        }
        return Entries.of(entries);
    }

    private static byte[] value(int length) {
        return bytes("value ".repeat(10).substring(0, length));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String fileName(Compression compression, int version) {
        return "component-v%d-%s.hex"
                .formatted(version, compression.name().toLowerCase(Locale.ROOT));
    }

    private static String fileName(Compression compression) {
        return fileName(compression, ComponentMeta.VERSION);
    }

    private static String golden(Compression compression) throws IOException {
        return golden(fileName(compression));
    }

    static String golden(String file) throws IOException {
        String name = "/golden/" + file;
        try (InputStream stream = ComponentFormatTest.class.getResourceAsStream(name)) {
            byte[] bytes = Objects.requireNonNull(stream, name).readAllBytes();
            return new String(bytes, StandardCharsets.US_ASCII).replaceAll("\\s", "");
        }
    }
}
