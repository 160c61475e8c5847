package io.turbidite.lsm.btree;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;
import io.turbidite.lsm.entry.EntryBatch;
import io.turbidite.lsm.entry.EntryHead;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** A page is exactly as long as it says, holds what was put in, and is full when it says so. */
class LeafPageTest {
    private static final int PAGE_BYTES = 4_096;

    private final SplittableRandom random = new SplittableRandom(Seeds.of("LeafPageTest"));
    private final LeafBuilder builder = new LeafBuilder(PAGE_BYTES);
    private final EntryBatch batch = new EntryBatch();

    /** Page header, one group's share of the directory, the header of the group. */
    private static final int FIXED_BYTES = 64 + 12 + 16;

    @Test
    void consecutiveKeysTakeTwelveBitsEach() {
        for (int i = 0; i < 64; i++) {
            add(number(i), i == 0 ? 0 : 8, version(1_000 + i, false), "");
        }
        // keys and timestamps differ by less than 64; the first head is the base
        assertThat(builder.pageBytes()).isEqualTo(FIXED_BYTES + 64 * (6 + 6) / 8 + 9);
    }

    @Test
    void entriesOfOneLengthNeedNoEnds() {
        for (int i = 0; i < 10; i++) {
            add(number(i), i == 0 ? 0 : 8, version(7, false), "abc");
        }
        assertThat(builder.pageBytes()).isEqualTo(FIXED_BYTES + 5 + 10 * 3 + 9);
    }

    @Test
    void theFirstEntryFindsRoomHoweverLong() {
        assertThat(add(builder, number(1), 0, 2, Slice.of(new byte[100_000]))).isTrue();
        assertThat(builder.pageBytes()).isEqualTo(FIXED_BYTES + 9 + 1 + 100_000);
        assertThat(add(builder, number(2), 8, 2, Slice.of(new byte[0]))).isFalse();
        Leaf leaf = build(5);
        assertThat(leaf.count()).isEqualTo(1);
        assertThat(leaf.firstOrdinal()).isEqualTo(5);
        assertThat(leaf.value(0, new Slice()).length()).isEqualTo(100_000);
    }

    @Test
    void runsOfKeysStoreWhatTheyShareOnce() {
        int runs = 12;
        int runEntries = 20;
        for (int run = 0; run < runs; run++) {
            for (int i = 0; i < runEntries; i++) {
                byte[] key = "aircraft N00000 flies 0000".getBytes(StandardCharsets.UTF_8);
                key[14] = (byte) ('a' + run);
                key[25] = (byte) ('a' + i);
                int shared = run + i == 0 ? 0 : i == 0 ? 14 : 25;
                assertThat(add(builder, Slice.of(key), shared, 2, Slice.of(new byte[0])))
                        .isTrue();
            }
        }
        // a head of five bits each; a group for each run, which keeps 11 bytes behind the page's
        // 14,
        // and a base
        assertThat(builder.pageBytes())
                .isEqualTo(64 + 14 + runs * (12 + 16 + 11 + 1 + (runEntries * 5 + 7) / 8));
        Leaf leaf = build(0);
        MemorySegment scratch = Arena.ofAuto().allocate(100, 8);
        // backwards, as forwards
        for (int i = runs * runEntries - 1; i >= 0; i--) {
            int length = leaf.copyKey(i, scratch, i == runs * runEntries - 1);
            assertThat(new Slice().set(scratch, 0, length).toUtf8())
                    .isEqualTo("aircraft N0000%c flies 000%c"
                            .formatted('a' + i / runEntries, 'a' + i % runEntries));
        }
    }

    @Test
    void theVersionsOfAKeyMayGoAcrossGroups() {
        // forty long keys that share much, then one that shares little: where its group begins is
        // found
        // only if the versions of the key before are looked at
        int versions = 40;
        for (int i = 0; i < versions; i++) {
            byte[] key = new byte[20];
            key[19] = 1;
            add(Slice.of(key), i == 0 ? 0 : 20, version(10_000 - 2 * i, false), "");
        }
        byte[] other = new byte[20];
        other[1] = 1;
        for (int i = 0; i < versions; i++) {
            int shared = i == 0 ? 1 : 20;
            add(Slice.of(other), shared, version(9_000 - 2 * i, false), "");
        }
        Leaf leaf = build(0);
        for (int i = 0; i < versions; i++) {
            for (int hint : new int[] {-1, 0, i, versions, versions + i, 2 * versions}) {
                assertThat(leaf.find(Slice.of(other), 9_000 - 2 * i, hint)).isEqualTo(versions + i);
                assertThat(leaf.find(Slice.of(other), 9_001 - 2 * i, hint)).isEqualTo(versions + i);
            }
        }
        assertThat(leaf.find(Slice.of(other), 1, -1)).isEqualTo(-1 - 2 * versions);
        assertThat(leaf.find(number(0), 5, -1)).isEqualTo(-1);
        assertThat(leaf.find(Slice.of(new byte[] {0, 1}), 5, 0)).isEqualTo(-1 - versions);
        assertThat(leaf.find(Slice.of(new byte[] {0, 2}), 5, 0)).isEqualTo(-1 - 2 * versions);
    }

    @Test
    void pagesHoldWhatWasPutIn() {
        for (int round = 0; round < 500; round++) {
            int shape = round % 7;
            byte[][] keys = keys(shape);
            long[] versions = new long[keys.length];
            byte[][] values = new byte[keys.length][];
            int count = 0;
            for (int i = 0; i < keys.length; i++) {
                versions[i] = versions(shape);
                values[i] = new byte[shape == 1 ? 0 : shape == 2 ? 20 : random.nextInt(60)];
                random.nextBytes(values[i]);
                int shared = i == 0 ? 0 : shared(keys[i - 1], keys[i]);
                if (!add(builder, Slice.of(keys[i]), shared, versions[i], Slice.of(values[i]))) {
                    break;
                }
                count++;
            }
            assertThat(builder.pageBytes()).isLessThanOrEqualTo(PAGE_BYTES);
            check(build(round), count, keys, versions, values);
        }
    }

    @Test
    void theLargestPagesAndKeysHoldManyVersions() {
        LeafBuilder large = new LeafBuilder(128 << 10);
        for (int round = 0; round < 20; round++) {
            TreeSet<byte[]> distinct = new TreeSet<>(Arrays::compareUnsigned);
            byte[] base = new byte[1_024];
            random.nextBytes(base);
            for (int i = 0; i < 200; i++) {
                // none, a few or all but one of its bytes are those of the others
                byte[] key = Arrays.copyOf(base, random.nextInt(3) == 0 ? 1_024 : i % 1_025);
                if (key.length > 0 && random.nextBoolean()) {
                    key[key.length - 1 - random.nextInt(Math.min(9, key.length))]++;
                }
                distinct.add(key);
            }
            List<byte[]> keys = new ArrayList<>();
            List<Long> versions = new ArrayList<>();
            for (byte[] key : distinct) {
                long timestamp = (1L << 47) - 1 - random.nextInt(3);
                for (int v = random.nextInt(30); v >= 0 && timestamp > 0; v--) {
                    keys.add(key);
                    versions.add(version(timestamp, random.nextBoolean()));
                    timestamp -= 1 + random.nextLong(random.nextInt(4) == 0 ? 1L << 44 : 9);
                }
            }
            int count = 0;
            while (count < keys.size()
                    && add(
                            large,
                            Slice.of(keys.get(count)),
                            count == 0 ? 0 : shared(keys.get(count - 1), keys.get(count)),
                            versions.get(count),
                            Slice.of(new byte[count % 3]))) {
                count++;
            }
            assertThat(large.pageBytes()).isLessThanOrEqualTo(128 << 10);
            checkVersions(build(large, round), count, keys, versions);
        }
    }

    /** Every version is found, and between two the older one, from wherever the search starts. */
    private void checkVersions(Leaf leaf, int count, List<byte[]> keys, List<Long> versions) {
        assertThat(leaf.entriesProblem(Arena.ofAuto().allocate(2_000, 8))).isNull();
        for (int i = 0; i < count; i++) {
            int hint = random.nextInt(-1, count + 1);
            long timestamp = versions.get(i) >>> 1;
            assertThat(leaf.find(Slice.of(keys.get(i)), timestamp, hint)).isEqualTo(i);
            assertThat(leaf.version(i)).isEqualTo(versions.get(i));
            assertThat(leaf.value(i, new Slice()).length()).isEqualTo(i % 3);
            boolean hasOlder = i + 1 < count && Arrays.equals(keys.get(i), keys.get(i + 1));
            int older = leaf.find(Slice.of(keys.get(i)), timestamp - 1, hint);
            assertThat(older).isEqualTo(hasOlder ? i + 1 : -2 - i);
        }
        long[] all = versions.stream().mapToLong(Long::longValue).toArray();
        checkBatches(leaf, count, keys.toArray(byte[][]::new), all);
    }

    /** Keys and versions come out in batches, whatever was in a batch before. */
    private void checkBatches(Leaf leaf, int count, byte[][] keys, long[] versions) {
        Slice slice = new Slice();
        int next = random.nextInt(count);
        batch.clear();
        while (next < count) {
            if (batch.isFull()) {
                checkBatch(next, keys, versions, slice);
                batch.clear();
            }
            int taken = leaf.take(next, 1 + random.nextInt(100), batch);
            assertThat(taken).isPositive();
            next += taken;
        }
        checkBatch(next, keys, versions, slice);
    }

    private void checkBatch(int end, byte[][] keys, long[] versions, Slice slice) {
        int first = end - batch.count();
        for (int i = 0; i < batch.count(); i++) {
            assertThat(batch.key(i, slice).toByteArray()).isEqualTo(keys[first + i]);
            assertThat(batch.timestamp(i)).isEqualTo(versions[first + i] >>> 1);
            assertThat(batch.isAntimatter(i)).isEqualTo((versions[first + i] & 1) != 0);
            assertThat(batch.checkedUntil(i)).isZero();
        }
    }

    private void check(Leaf leaf, int count, byte[][] keys, long[] versions, byte[][] values) {
        assertThat(leaf.count()).isEqualTo(count);
        MemorySegment scratch = Arena.ofAuto().allocate(2_000, 8);
        assertThat(leaf.entriesProblem(scratch)).isNull();
        for (int i = 0; i < count; i++) {
            int length = leaf.copyKey(i, scratch, true);
            byte[] key = new Slice().set(scratch, 0, length).toByteArray();
            assertThat(key).isEqualTo(keys[i]);
            assertThat(leaf.version(i)).isEqualTo(versions[i]);
            assertThat(leaf.value(i, new Slice()).toByteArray()).isEqualTo(values[i]);
            checkWords(leaf, i, key);
            long timestamp = versions[i] >>> 1;
            assertThat(leaf.find(Slice.of(key), timestamp, i / 2)).isEqualTo(i);
            assertThat(leaf.find(Slice.of(key), timestamp - 1, -1)).isEqualTo(-2 - i);
            assertThat(leaf.find(Slice.of(key), timestamp, count - i)).isEqualTo(i);
        }
        checkBatches(leaf, count, keys, versions);
    }

    /** Taken out of its columns with its neighbours, a short key of even length is two numbers. */
    private static void checkWords(Leaf leaf, int entry, byte[] key) {
        Stretch stretch = new Stretch();
        leaf.decode(entry, true, 8, stretch);
        MemorySegment padded = MemorySegment.ofArray(Arrays.copyOf(key, Math.max(16, key.length)));
        assertThat(stretch.prefixes[0]).isEqualTo(padded.get(Bytes.I64_BE, 0));
        if (stretch.keyBytes >= 0) {
            assertThat(stretch.keyBytes).isEqualTo(key.length);
            assertThat(stretch.seconds[0]).isEqualTo(padded.get(Bytes.I64_BE, 8));
        }
    }

    private byte[][] keys(int shape) {
        byte[][] keys = new byte[1 + random.nextInt(shape == 5 ? 1_000 : 300)][];
        int keyBytes = 9 + random.nextInt(8);
        for (int i = 0; i < keys.length; i++) {
            keys[i] = new byte
                    [switch (shape) {
                        case 0, 1 -> 9;
                        case 2 -> 30;
                        case 5 -> 12;
                        case 6 -> keyBytes;
                        default -> random.nextInt(40);
                    }];
            for (int j = 0; j < keys[i].length; j++) {
                boolean same = (j < 20 && shape == 2) || (j > 3 && j < 10 && shape == 5);
                keys[i][j] = (byte) (same ? 'p' : random.nextInt(j < 3 ? 2 : 256));
            }
        }
        TreeSet<byte[]> sorted = new TreeSet<>(Arrays::compareUnsigned);
        sorted.addAll(Arrays.asList(keys));
        return sorted.toArray(byte[][]::new);
    }

    private long versions(int shape) {
        return switch (shape) {
            case 0 -> 42;
            case 1 -> 1_000_000 + random.nextInt(1 << 20);
            default -> 1 + random.nextLong(1L << (48 - random.nextInt(40)));
        };
    }

    private static int shared(byte[] a, byte[] b) {
        int mismatch = Arrays.mismatch(a, b);
        return mismatch < 0 ? a.length : mismatch;
    }

    private static Slice number(int number) {
        byte[] key = new byte[9];
        key[8] = (byte) number;
        return Slice.of(key);
    }

    private void add(Slice key, int shared, long version, String value) {
        Slice bytes = Slice.of(value.getBytes(StandardCharsets.UTF_8));
        assertThat(add(builder, key, shared, version, bytes)).isTrue();
    }

    private static boolean add(
            LeafBuilder builder, Slice key, int shared, long version, Slice value) {
        EntryHead entry = new EntryHead();
        entry.note(key, version >>> 1, (version & 1) != 0);
        return builder.add(entry, shared, value);
    }

    private static long version(long timestamp, boolean antimatter) {
        return timestamp << 1 | (antimatter ? 1 : 0);
    }

    private Leaf build(long firstOrdinal) {
        return build(builder, firstOrdinal);
    }

    private static Leaf build(LeafBuilder builder, long firstOrdinal) {
        int bytes = builder.pageBytes();
        MemorySegment target = Arena.ofAuto().allocate(bytes + 64L, 64);
        target.fill((byte) 0xAA);
        builder.build(target, 32, firstOrdinal);
        // nothing before, nothing behind what may be written over
        assertThat(target.get(Bytes.U8, 63)).isEqualTo((byte) 0xAA);
        assertThat(target.get(Bytes.U8, 32L + bytes + LeafBuilder.SPARE_BYTES))
                .isEqualTo((byte) 0xAA);
        MemorySegment page = target.asSlice(32, bytes);
        assertThat(LeafLayout.problem(page)).isNull();
        return new Leaf().wrap(page);
    }
}
