package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.Entries.Entry;
import io.turbidite.lsm.component.Entries.KeyShape;
import io.turbidite.lsm.component.Entries.ValueShape;
import io.turbidite.lsm.entry.CursorWalk;
import io.turbidite.lsm.entry.EntryHead;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.entry.ListCursor.Row;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A component answers as a sorted list does, for all shapes of keys and values, sizes and options.
 */
class DiskComponentModelTest {
    private static final String TEST = "DiskComponentModelTest";

    private static final List<ValueShape> VALUE_SHAPES = List.of(ValueShape.values());

    @ParameterizedTest
    @EnumSource(KeyShape.class)
    void answersAsTheModelDoes(KeyShape keyShape) {
        long seed = Seeds.mix(Seeds.of(TEST), keyShape.name().hashCode());
        int rounds = Tier.count(3, 12, 200);
        for (int round = 0; round < rounds; round++) {
            SplittableRandom random = new SplittableRandom(Seeds.mix(seed, round));
            int keyCount = switch (round % 6) {
                case 0 -> round / 6;
                case 1 -> 2 + random.nextInt(20);
                case 2, 3 -> 100 + random.nextInt(400);
                default -> 1_000 + random.nextInt(4_000);
            };
            ValueShape valueShape = VALUE_SHAPES.get(random.nextInt(VALUE_SHAPES.size()));
            ComponentOptions options = options(random);
            try {
                check(random, Entries.generate(random, keyCount, keyShape, valueShape), options);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(
                        "round %d, %d keys, %s, %s; %s"
                                .formatted(
                                        round,
                                        keyCount,
                                        valueShape,
                                        options,
                                        Seeds.replay(TEST, Seeds.of(TEST))),
                        e);
            }
        }
    }

    @Test
    void answersAsTheModelDoesWithManyPages() {
        SplittableRandom random = new SplittableRandom(Seeds.of(TEST));
        int keyCount = Tier.count(12_500, 100_000, 1_000_000);
        Entries entries = Entries.generate(random, keyCount, KeyShape.LONGS, ValueShape.ANY_LENGTH);
        check(random, entries, ComponentOptions.primary().withPageBytes(4 << 10));
    }

    private static ComponentOptions options(SplittableRandom random) {
        return new ComponentOptions(
                new PageOptions(4096 << random.nextInt(6), compression(random)),
                random.nextInt(3) > 0,
                0.01,
                random.nextBoolean());
    }

    private static Compression compression(SplittableRandom random) {
        return switch (random.nextInt(3)) {
            case 0 -> Compression.NONE;
            case 1 -> Compression.LZ4;
            default -> Compression.ZSTD;
        };
    }

    private static void check(SplittableRandom random, Entries entries, ComponentOptions options) {
        SimDisk disk = new SimDisk(random.nextLong(), Profile.STRICT);
        Components.write(disk, options, entries);
        // sometimes smaller than the file, never than a page
        long cacheBytes = random.nextBoolean() ? 1 << 20 : 64 << 20;
        try (BufferCache cache = Components.cache(cacheBytes);
                DiskComponent component = Components.open(disk, cache)) {
            checkMetadata(component, entries, options);
            checkScans(component, entries);
            checkSeeks(random, component, entries);
            checkWalks(random, component, entries);
            checkFinds(random, component, entries);
            checkRanges(random, component, entries);
            assertThat(Components.verify(component)).isEmpty();
            assertThat(cache.statistics().pinnedFrameCount()).isZero();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    private static void checkMetadata(
            DiskComponent component, Entries entries, ComponentOptions options) {
        assertThat(component.id()).isEqualTo(entries.id());
        assertThat(component.options()).isEqualTo(options);
        assertThat(component.header()).isEqualTo(Components.HEADER);
        assertThat(component.filter()).isEqualTo(Components.filter());
        assertThat(component.entryCount()).isEqualTo(entries.size());
        assertThat(component.antimatterCount()).isEqualTo(entries.antimatterCount());
        assertThat(component.keyCount()).isEqualTo(entries.keyCount());
        assertThat(component.minWallMicros()).isEqualTo(1_000);
        assertThat(component.maxWallMicros()).isEqualTo(2_000);
        byte[] none = new byte[0];
        boolean empty = entries.sorted.isEmpty();
        assertThat(component.minKey().toByteArray())
                .isEqualTo(empty ? none : entries.sorted.getFirst().key());
        assertThat(component.maxKey().toByteArray())
                .isEqualTo(empty ? none : entries.sorted.getLast().key());
    }

    private static void checkScans(DiskComponent component, Entries entries) {
        boolean recordTreeOnly = !component.hasKeyTree();
        try (TreeCursor cached = component.cursor();
                TreeCursor streamed = component.streamCursor();
                TreeCursor keys = component.keyCursor()) {
            for (int i = 0; i < entries.size(); i++) {
                checkNext(cached, i, entries, true);
                checkNext(streamed, i, entries, true);
                checkNext(keys, i, entries, recordTreeOnly);
            }
            assertThat(cached.next()).isFalse();
            assertThat(cached.next()).isFalse();
            assertThat(streamed.next()).isFalse();
            assertThat(keys.next()).isFalse();
        }
    }

    private static void checkWalks(
            SplittableRandom random, DiskComponent component, Entries entries) {
        List<Row> rows = entries.sorted.stream()
                .map(entry ->
                        new Row(entry.key(), entry.timestamp(), entry.antimatter(), entry.value()))
                .toList();
        try (TreeCursor cached = component.cursor();
                TreeCursor streamed = component.streamCursor()) {
            CursorWalk.run(cached, rows, random, 5_000);
            CursorWalk.run(streamed, rows, random, 200);
        }
    }

    private static void checkNext(
            TreeCursor cursor, int index, Entries entries, boolean withValue) {
        EntryHead brief = new EntryHead();
        assertThat(index % 2 == 0 ? cursor.next() : cursor.next(brief)).isTrue();
        Entry entry = entries.sorted.get(index);
        assertThat(cursor.ordinal()).isEqualTo(index);
        assertThat(cursor.timestamp()).isEqualTo(entry.timestamp());
        assertThat(cursor.isAntimatter()).isEqualTo(entry.antimatter());
        if (index % 2 != 0) {
            ByteSink key = new ByteSink(16, 1 << 11);
            brief.putKey(key);
            assertThat(Arrays.equals(key.asSlice(new Slice()).toByteArray(), entry.key()))
                    .isTrue();
            assertThat(brief.timestamp).isEqualTo(entry.timestamp());
            assertThat(brief.antimatter).isEqualTo(entry.antimatter());
        }
        if (!Arrays.equals(cursor.key().toByteArray(), entry.key())) {
            throw new AssertionError("%s instead of %s".formatted(cursor.key(), entry));
        }
        byte[] expected = withValue ? entry.value() : new byte[0];
        if (!Arrays.equals(cursor.value().toByteArray(), expected)) {
            throw new AssertionError("value %s of %s".formatted(cursor.value(), entry));
        }
    }

    private static void checkSeeks(
            SplittableRandom random, DiskComponent component, Entries entries) {
        try (TreeCursor cached = component.cursor();
                TreeCursor streamed = component.streamCursor();
                TreeCursor keys = component.keyCursor()) {
            for (int i = 0; i < 100; i++) {
                byte[] target = someKey(random, entries);
                int index = entries.lowerBound(target, Long.MAX_VALUE);
                for (TreeCursor cursor : new TreeCursor[] {cached, streamed, keys}) {
                    boolean withValue = cursor != keys || !component.hasKeyTree();
                    cursor.seek(Slice.of(target));
                    for (int j = index; j < Math.min(index + 3, entries.size()); j++) {
                        checkNext(cursor, j, entries, withValue);
                    }
                    if (index + 3 > entries.size()) {
                        assertThat(cursor.next()).isFalse();
                    }
                }
            }
        }
    }

    private static void checkFinds(
            SplittableRandom random, DiskComponent component, Entries entries) {
        Found found = new Found(16 << 20);
        try (PointCursor records = component.pointCursor();
                PointCursor keys = component.keyPointCursor()) {
            for (int i = 0; i < 2_000; i++) {
                Entry wanted;
                if (i < 1_000 && entries.size() > 0) {
                    // ascending, then anything
                    int at = (int) ((long) i * entries.size() / 1_000);
                    byte[] key = entries.sorted.get(at).key();
                    wanted = new Entry(key, someSnapshot(random, entries), false, new byte[0]);
                } else {
                    byte[] key = someKey(random, entries);
                    wanted = new Entry(key, someSnapshot(random, entries), false, new byte[0]);
                }
                int index = entries.find(wanted.key(), wanted.timestamp());
                Slice key = wanted.keySlice();
                long snapshot = wanted.timestamp();
                found.value.clear();
                expect(entries, index, component.find(key, snapshot, found, true), found, true);
                expect(entries, index, component.findKey(key, snapshot, found), found, false);
                expect(entries, index, records.find(key, snapshot, found, true), found, true);
                expect(entries, index, keys.find(key, snapshot, found, false), found, false);
                if (index >= 0) {
                    assertThat(component.mayContain(BloomFilter.hash(key))).isTrue();
                }
            }
        }
    }

    private static void expect(
            Entries entries, int index, int code, Found found, boolean withValue) {
        if (index < 0) {
            assertThat(code).isEqualTo(Found.ABSENT);
            return;
        }
        Entry entry = entries.sorted.get(index);
        assertThat(code).isEqualTo(entry.antimatter() ? Found.ANTIMATTER : Found.MATTER);
        assertThat(found.timestamp).isEqualTo(entry.timestamp());
        assertThat(found.position).isEqualTo(index);
        if (withValue) {
            byte[] value = found.value.asSlice(new Slice()).toByteArray();
            assertThat(Arrays.equals(value, entry.value())).isTrue();
        }
    }

    private static void checkRanges(
            SplittableRandom random, DiskComponent component, Entries entries) {
        assertThat(component.estimateEntries(KeyRange.all())).isEqualTo(entries.size());
        for (int i = 0; i < 20; i++) {
            byte[] low = someKey(random, entries);
            byte[] high = someKey(random, entries);
            int from = entries.lowerBound(low, Long.MAX_VALUE);
            int to = entries.lowerBound(high, Long.MAX_VALUE);
            assertThat(component.estimateEntries(KeyRange.of(low, high)))
                    .isEqualTo(Math.max(0, to - from));
            assertThat(component.estimateEntries(KeyRange.of(low, null)))
                    .isEqualTo(entries.size() - from);
        }
    }

    /** A key that is there, a neighbour of one, or any. */
    private static byte[] someKey(SplittableRandom random, Entries entries) {
        if (entries.size() == 0 || random.nextInt(10) == 0) {
            byte[] key = new byte[random.nextInt(20)];
            random.nextBytes(key);
            return key;
        }
        byte[] key = entries.sorted.get(random.nextInt(entries.size())).key();
        return switch (random.nextInt(6)) {
            case 0 -> Arrays.copyOf(key, key.length / 2);
            case 1 -> Arrays.copyOf(key, key.length + 1);
            case 2 -> {
                byte[] changed = key.clone();
                if (changed.length > 0) {
                    changed[random.nextInt(changed.length)] +=
                            (byte) (random.nextBoolean() ? 1 : -1);
                }
                yield changed;
            }
            default -> key;
        };
    }

    private static long someSnapshot(SplittableRandom random, Entries entries) {
        if (entries.size() == 0 || random.nextInt(3) == 0) {
            return Long.MAX_VALUE;
        }
        return entries.sorted.get(random.nextInt(entries.size())).timestamp() - random.nextInt(2);
    }
}
