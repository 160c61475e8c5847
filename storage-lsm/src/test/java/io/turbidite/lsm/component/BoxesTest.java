package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.core.geo.Zone;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.component.Entries.Entry;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.memory.CollectedChunks;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.rtree.SkippingCursor;
import io.turbidite.lsm.rtree.WindowCursor;
import io.turbidite.lsm.rtree.WindowWork;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;

/** Windows on a component with boxes show what looking at each of its entries shows. */
class BoxesTest {
    private final SplittableRandom random = new SplittableRandom(Seeds.of("BoxesTest"));

    private static Slice key(SpatialKind kind, Rectangle value, int number) {
        ByteSink sink = new ByteSink(64, 128);
        kind.append(value.minX(), value.minY(), value.maxX(), value.maxY(), sink);
        sink.putLongBigEndian(number);
        return Slice.of(sink.asSlice(new Slice()).toByteArray());
    }

    private Rectangle value(SpatialKind kind, double spread) {
        double x = random.nextInt(-4, 5) * 30 + random.nextDouble(-1, 1) * spread;
        double y = random.nextInt(-2, 3) * 30 + random.nextDouble(-1, 1) * spread;
        double size = random.nextInt(4) == 0 ? 0 : Math.scalb(spread, -random.nextInt(20));
        return kind == SpatialKind.POINT
                ? new Rectangle(x, y, x, y)
                : new Rectangle(x, y, x + size, y + random.nextDouble() * size);
    }

    private Entries entries(SpatialKind kind, int count, double spread) {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] key = key(kind, value(kind, spread), i).toByteArray();
            boolean antimatter = random.nextInt(10) == 0;
            entries.add(new Entry(key, 1_000_000 + i, antimatter, new byte[0]));
            if (i % 50 == 0) {
                entries.add(new Entry(key, 1_000 + i, false, new byte[0]));
            }
        }
        return Entries.of(entries);
    }

    private static ComponentOptions options(SpatialKind kind) {
        return ComponentOptions.secondary().withPageBytes(4_096).withBoxes(kind);
    }

    private static List<Entry> inside(Entries entries, SpatialKind kind, Rectangle window) {
        Box bounds = new Box().set(window);
        Box box = new Box();
        return entries.sorted.stream()
                .filter(entry -> {
                    kind.decode(entry.keySlice(), 0, box);
                    return bounds.intersects(box);
                })
                .toList();
    }

    private static Entry entry(EntryCursor cursor) {
        return new Entry(
                cursor.key().toByteArray(), cursor.timestamp(), cursor.isAntimatter(), new byte[0]);
    }

    private Rectangle window(SpatialKind kind, double spread) {
        Rectangle near = value(kind, spread);
        double half = Math.scalb(spread, 2 - random.nextInt(12));
        return switch (random.nextInt(8)) {
            case 0 -> new Rectangle(-1e300, -1e300, 1e300, 1e300);
            case 1 -> new Rectangle(500, 500, 600, 600);
            default ->
                new Rectangle(
                        near.minX() - half,
                        near.minY() - half / 2,
                        near.minX() + half,
                        near.minY() + half);
        };
    }

    @ParameterizedTest
    @EnumSource
    void aWindowShowsItsEntriesInBothDirectionsAndFromAnywhere(SpatialKind kind) {
        for (double spread : new double[] {0, 1e-9, 1, 40, 1e30}) {
            Entries entries = entries(kind, 3_000, spread);
            SimDisk disk = new SimDisk(1, Profile.STRICT);
            Components.write(disk, options(kind), entries);
            try (BufferCache cache = Components.cache(8 << 20);
                    DiskComponent component = Components.open(disk, cache)) {
                assertThat(Components.verify(component)).isEmpty();
                for (int i = 0; i < 60; i++) {
                    Rectangle window = window(kind, spread);
                    List<Entry> expected = inside(entries, kind, window);
                    boolean isMet = component.mayMeet(Zone.of(window));
                    assertThat(isMet || expected.isEmpty()).isTrue();
                    try (WindowCursor cursor = component.windowCursor(
                            new WindowSearch(kind, window), new WindowWork())) {
                        walk(cursor, expected, entries);
                    }
                }
            }
        }
    }

    /** Walks at random, seeks too, and compares each step. */
    private void walk(EntryCursor cursor, List<Entry> expected, Entries entries) {
        int gap = 0;
        for (Entry entry : expected) {
            assertThat(cursor.next()).isTrue();
            assertThat(entry(cursor)).isEqualTo(entry);
        }
        assertThat(cursor.next()).isFalse();
        for (Entry entry : expected.reversed()) {
            assertThat(cursor.previous()).isTrue();
            assertThat(entry(cursor)).isEqualTo(entry);
        }
        assertThat(cursor.previous()).isFalse();
        boolean stands = false;
        for (int step = 0; step < 60; step++) {
            int dice = random.nextInt(8);
            if (dice == 0) {
                Entry target = entries.sorted.get(random.nextInt(entries.size()));
                cursor.seek(target.keySlice());
                gap = (int) expected.stream()
                        .filter(e -> e.keySlice().compareBytes(target.keySlice()) < 0)
                        .count();
                stands = false;
            } else if (dice == 1) {
                cursor.seekEnd();
                gap = expected.size();
                stands = false;
            } else if (dice < 5) {
                // on an entry, the gap is the one before it
                gap = stands ? gap + 1 : gap;
                stands = gap < expected.size();
                assertThat(cursor.next()).isEqualTo(stands);
            } else {
                stands = gap > 0;
                gap = Math.max(0, gap - 1);
                assertThat(cursor.previous()).isEqualTo(stands);
            }
            if (stands) {
                assertThat(entry(cursor)).isEqualTo(expected.get(gap));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aWindowOnAMemoryComponentSkipsToItsEntries(SpatialKind kind) {
        for (double spread : new double[] {0, 1e-9, 1, 40, 1e30}) {
            Entries entries = entries(kind, 2_000, spread);
            try (MemoryComponent memory = MemoryComponent.create(new CollectedChunks())) {
                for (Entry entry : entries.sorted) {
                    memory.put(
                            entry.keySlice(), entry.timestamp(), entry.antimatter(), new Slice());
                }
                for (int i = 0; i < 60; i++) {
                    Rectangle window = window(kind, spread);
                    try (EntryCursor cursor = new SkippingCursor(
                            memory.cursor(), new WindowSearch(kind, window), new WindowWork())) {
                        walk(cursor, inside(entries, kind, window), entries);
                    }
                }
            }
        }
    }

    /** Pages and groups outside are not read; those inside are not looked at key by key. */
    @Test
    void aSmallWindowReadsFewPages() {
        Entries entries = entries(SpatialKind.POINT, 20_000, 15);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, options(SpatialKind.POINT), entries);
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            long visited = 0;
            long found = 0;
            int windows = 200;
            for (int i = 0; i < windows; i++) {
                Rectangle near = value(SpatialKind.POINT, 15);
                Rectangle window = new Rectangle(
                        near.minX() - 1, near.minY() - 1, near.minX() + 1, near.minY() + 1);
                WindowSearch search = new WindowSearch(SpatialKind.POINT, window);
                WindowWork work = new WindowWork();
                try (WindowCursor cursor = component.windowCursor(search, work)) {
                    while (cursor.next()) {
                        found++;
                    }
                    visited += work.counted().entryCount();
                    assertThat(work.counted().pageCount()).isLessThan(12);
                }
            }
            assertThat(visited).isLessThanOrEqualTo(2 * found + 128L * windows);
            assertThat(component.recordPageCount()).isGreaterThan(80);
        }
    }

    @Test
    void anEstimateIsNearWhatIsThere() {
        Entries entries = entries(SpatialKind.POINT, 20_000, 15);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, options(SpatialKind.POINT), entries);
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            for (int i = 0; i < 100; i++) {
                Rectangle window = window(SpatialKind.POINT, 15);
                int there = inside(entries, SpatialKind.POINT, window).size();
                long estimate = component.estimateEntries(Zone.of(window));
                assertThat(estimate).isBetween(there - 60 - there / 5L, there + 60 + there / 5L);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyFlippedByteIsFound(SpatialKind kind) {
        Entries entries = entries(kind, 300, 40);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, options(kind), entries);
        byte[] sound = disk.content(Components.NAME);
        int boxes = ComponentDamageTest.find(sound, Block.Kind.BOXES);
        int step = Tier.count(127, 16, 1);
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (int at = random.nextInt(step); at < sound.length; at += at < boxes ? step : 1) {
                byte[] damaged = sound.clone();
                damaged[at] ^= (byte) (1 << random.nextInt(8));
                SimDisk other = new SimDisk(1, Profile.STRICT);
                other.put(Components.NAME, damaged);
                try (DiskComponent component = Components.open(other, cache)) {
                    assertThat(Components.verify(component)).as("byte %d", at).isNotEmpty();
                } catch (CorruptionException e) {
                    assertThat(e.file()).isEqualTo(Components.NAME);
                }
                assertThat(other.openHandles()).isEmpty();
            }
        }
    }

    /** Whatever a faulty writer puts into the boxes is refused, or found, or harmless. */
    @Test
    void forgedBoxesNeverReadBehindTheirEnd() {
        Entries entries = entries(SpatialKind.POINT, 600, 40);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, options(SpatialKind.POINT), entries);
        byte[] sound = disk.content(Components.NAME);
        int block = ComponentDamageTest.find(sound, Block.Kind.BOXES);
        int bytes = Block.HEADER_BYTES
                + MemorySegment.ofArray(sound).get(Bytes.I32, block + Block.PAYLOAD_BYTES_OFFSET);
        WindowSearch search = new WindowSearch(SpatialKind.POINT, new Rectangle(-40, -40, 40, 40));
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (int offset = Block.HEADER_BYTES; offset < bytes - 3; offset++) {
                byte[] forged = sound.clone();
                ComponentDamageTest.forgeInt(
                        forged, Block.Kind.BOXES, offset, before -> random.nextInt());
                SimDisk other = new SimDisk(1, Profile.STRICT);
                other.put(Components.NAME, forged);
                int seen = 0;
                try (DiskComponent component = Components.open(other, cache);
                        WindowCursor cursor = component.windowCursor(search, new WindowWork())) {
                    while (cursor.next()) {
                        seen++;
                    }
                    Components.verify(component);
                } catch (CorruptionException e) {
                    assertThat(e.file()).isEqualTo(Components.NAME);
                }
                assertThat(seen).isLessThanOrEqualTo(entries.size());
            }
        }
    }

    /** A planted bug: some box that does not reach around what it is for. */
    @ParameterizedTest
    @EnumSource
    void verifyFindsEveryBoxThatIsTooSmall(SpatialKind kind) {
        Entries entries = entries(kind, 2_000, 40);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, options(kind), entries);
        byte[] sound = disk.content(Components.NAME);
        try (BufferCache cache = Components.cache(8 << 20)) {
            int at = ComponentDamageTest.find(sound, Block.Kind.BOXES);
            int pages = MemorySegment.ofArray(sound).get(Bytes.I32, at + 32L);
            int boxes = pages + (pages + 15) / 16 + (pages > 16 ? 1 : 0);
            for (int box = 0; box < boxes; box++) {
                // the right border comes in by a sixteenth
                int offset = 64 + 16 * box + 8;
                expectFinding(sound, cache, offset, bits -> {
                    float right = Float.intBitsToFloat(bits);
                    return Float.floatToRawIntBits(right - Math.max(1e-3f, Math.abs(right) / 16));
                });
            }
            int groups = 64 + 16 * boxes + 4 * pages;
            for (int group = 0; group < 20; group++) {
                expectFinding(sound, cache, groups + 4 * group, steps -> steps | 0xFF);
            }
        }
    }

    /** A planted bug: the boxes of a page's groups are those of the groups beside them. */
    @ParameterizedTest
    @EnumSource
    void verifyFindsGroupsThatAreOffByOne(SpatialKind kind) {
        Entries entries = entries(kind, 2_000, 40);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Components.write(disk, options(kind), entries);
        byte[] sound = disk.content(Components.NAME);
        try (BufferCache cache = Components.cache(8 << 20)) {
            MemorySegment file = MemorySegment.ofArray(sound);
            int at = ComponentDamageTest.find(sound, Block.Kind.BOXES);
            int pages = file.get(Bytes.I32, at + 32L);
            int boxes = pages + (pages + 15) / 16 + (pages > 16 ? 1 : 0);
            int groups = 64 + 16 * boxes + 4 * pages;
            for (int step : new int[] {-1, 1}) {
                byte[] forged = sound.clone();
                for (int group = 1; group < 20; group++) {
                    int other = file.get(Bytes.I32, at + groups + 4L * (group + step));
                    ComponentDamageTest.forgeInt(
                            forged, Block.Kind.BOXES, groups + 4 * group, _ -> other);
                }
                SimDisk bent = new SimDisk(1, Profile.STRICT);
                bent.put(Components.NAME, forged);
                try (DiskComponent component = Components.open(bent, cache)) {
                    assertThat(Components.verify(component).toString())
                            .as("groups off by %d", step)
                            .contains("is not in the box of group");
                }
            }
        }
    }

    private static void expectFinding(
            byte[] sound, BufferCache cache, int offset, IntUnaryOperator to) {
        byte[] forged = sound.clone();
        ComponentDamageTest.forgeInt(forged, Block.Kind.BOXES, offset, to);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.put(Components.NAME, forged);
        try (DiskComponent component = Components.open(disk, cache)) {
            assertThat(Components.verify(component).toString())
                    .as("offset %d", offset)
                    .contains("is not in");
        }
    }
}
