package io.turbidite.lsm.component;

import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;

/** The model of a component: a sorted list of entries, generated from a seed. */
final class Entries {
    /** How keys look; each shape meets other branches of the page layout. */
    enum KeyShape {
        /** A tag and eight random bytes, as an encoded int64 has. */
        LONGS,
        /** A tag and eight bytes that count. */
        CONSECUTIVE,
        /** 0 to 12 letters out of three, zero among them: prefixes of one another. */
        SHORT_TEXT,
        /** 200 equal bytes and 0 to 20 random ones. */
        LONG_PREFIX,
        /** 1 to 1,024 random bytes. */
        ANY_LENGTH
    }

    /** How values look. */
    enum ValueShape {
        NONE,
        SAME_LENGTH,
        ANY_LENGTH,
        /** Some of them longer than a page. */
        SOME_HUGE
    }

    /** One entry. A class and not a record, because it holds arrays. */
    static final class Entry implements Comparable<Entry> {
        private final byte[] key;
        private final long timestamp;
        private final boolean antimatter;
        private final byte[] value;

        Entry(byte[] key, long timestamp, boolean antimatter, byte[] value) {
            this.key = key;
            this.timestamp = timestamp;
            this.antimatter = antimatter;
            this.value = value;
        }

        byte[] key() {
            return key;
        }

        long timestamp() {
            return timestamp;
        }

        boolean antimatter() {
            return antimatter;
        }

        byte[] value() {
            return value;
        }

        @Override
        public int compareTo(Entry other) {
            int order = Arrays.compareUnsigned(key, other.key);
            return order != 0 ? order : Long.compare(other.timestamp, timestamp);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Entry entry && compareTo(entry) == 0;
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(key) * 31 + Long.hashCode(timestamp);
        }

        Slice keySlice() {
            return Slice.of(key);
        }

        @Override
        public String toString() {
            return "%s at %d, %s, %d bytes"
                    .formatted(
                            keySlice(),
                            timestamp,
                            antimatter ? "anti-matter" : "matter",
                            value.length);
        }
    }

    final List<Entry> sorted;

    private Entries(List<Entry> sorted) {
        this.sorted = sorted;
    }

    static Entries of(List<Entry> entries) {
        return new Entries(entries.stream().sorted().toList());
    }

    /** About {@code keyCount} keys, most with one version, some with a few, one with hundreds. */
    static Entries generate(
            SplittableRandom random, int keyCount, KeyShape keyShape, ValueShape valueShape) {
        TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
        for (int i = 0; i < keyCount; i++) {
            keys.add(key(random, i, keyShape));
        }
        List<Entry> entries = new ArrayList<>();
        int hot = random.nextInt(Math.max(1, keyCount));
        int index = 0;
        for (byte[] key : keys) {
            int versions = random.nextInt(8) == 0 ? 2 + random.nextInt(4) : 1;
            if (index++ == hot && keyCount > 10) {
                versions = 300;
            }
            long timestamp = 1_000_000L + random.nextInt(1_000_000);
            for (int v = 0; v < versions; v++) {
                boolean antimatter = random.nextInt(10) == 0;
                byte[] value = antimatter ? new byte[0] : value(random, valueShape);
                entries.add(new Entry(key, timestamp, antimatter, value));
                timestamp -= 1 + random.nextInt(1_000);
            }
        }
        return of(entries);
    }

    static byte[] key(SplittableRandom random, int index, KeyShape shape) {
        return switch (shape) {
            case LONGS -> tagged(random.nextLong());
            case CONSECUTIVE -> tagged(1L << 63 | index * 3L);
            case SHORT_TEXT -> {
                byte[] key = new byte[random.nextInt(13)];
                for (int i = 0; i < key.length; i++) {
                    key[i] = (byte) (new int[] {0, 'a', 0xFF})[random.nextInt(3)];
                }
                yield key;
            }
            case LONG_PREFIX -> {
                byte[] key = new byte[200 + random.nextInt(21)];
                random.nextBytes(key);
                Arrays.fill(key, 0, 200, (byte) 'p');
                yield key;
            }
            case ANY_LENGTH -> {
                byte[] key = new byte[1 + random.nextInt(1_024)];
                random.nextBytes(key);
                yield key;
            }
        };
    }

    private static byte[] tagged(long number) {
        byte[] key = new byte[9];
        key[0] = 5;
        for (int i = 0; i < 8; i++) {
            key[8 - i] = (byte) (number >>> (8 * i));
        }
        return key;
    }

    private static byte[] value(SplittableRandom random, ValueShape shape) {
        int length = switch (shape) {
            case NONE -> 0;
            case SAME_LENGTH -> 100;
            case ANY_LENGTH -> random.nextInt(200);
            case SOME_HUGE ->
                random.nextInt(50) == 0 ? 30_000 + random.nextInt(200_000) : random.nextInt(200);
        };
        byte[] value = new byte[length];
        // half of it compresses
        for (int i = 0; i < length; i++) {
            value[i] = (byte) (i % 2 == 0 ? 'v' : random.nextInt());
        }
        return value;
    }

    int size() {
        return sorted.size();
    }

    /** The index of the first entry at or behind (key, timestamp). */
    int lowerBound(byte[] key, long timestamp) {
        Entry wanted = new Entry(key, timestamp, false, new byte[0]);
        int low = 0;
        int high = sorted.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted.get(middle).compareTo(wanted) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The index of the newest version of {@code key} at or below {@code snapshot}; -1 if none. */
    int find(byte[] key, long snapshot) {
        int index = lowerBound(key, snapshot);
        return index < size() && Arrays.equals(sorted.get(index).key, key) ? index : -1;
    }

    long keyCount() {
        TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
        sorted.forEach(entry -> keys.add(entry.key));
        return keys.size();
    }

    long antimatterCount() {
        return sorted.stream().filter(Entry::antimatter).count();
    }

    ComponentId id() {
        long min = sorted.stream().mapToLong(Entry::timestamp).min().orElse(0);
        long max = sorted.stream().mapToLong(Entry::timestamp).max().orElse(0);
        return new ComponentId(min, max);
    }
}
