package io.turbidite.bench.text;

import java.util.Arrays;

/**
 * A word's entries as groups of keys and timestamps, both as differences from the entry before: a
 * prototype of leaf pages that are coded so. A group begins with its word, a whole key and a whole
 * timestamp; where groups begin and their first keys are known without decoding.
 */
final class DeltaPairs {
    private static final int GROUP_COUNT = 32;

    private byte[] bytes = new byte[64];
    private int length;
    private final long[] firstKeys;
    private final int[] offsets;
    private final int count;

    DeltaPairs(Postings postings, int word) {
        int start = postings.start(word);
        this.count = postings.end(word) - start;
        int groups = (count + GROUP_COUNT - 1) / GROUP_COUNT;
        this.firstKeys = new long[groups];
        this.offsets = new int[groups];
        for (int i = 0; i < count; i++) {
            long key = postings.document(start + i);
            long timestamp = postings.timestamp(start + i);
            if (i % GROUP_COUNT == 0) {
                firstKeys[i / GROUP_COUNT] = key;
                offsets[i / GROUP_COUNT] = length;
                put(timestamp);
            } else {
                put(key - postings.document(start + i - 1));
                long step = timestamp - postings.timestamp(start + i - 1);
                put((step << 1) ^ (step >> 63));
            }
        }
    }

    private void put(long value) {
        if (bytes.length - length < 10) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
        }
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[length++] = (byte) ((rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
    }

    /** Bytes with the word and the first key of each group, and two to find it in its page. */
    long byteCount(int wordBytes) {
        return length + (long) offsets.length * (wordBytes + Long.BYTES + 2);
    }

    /** Where one list is read. */
    static final class Cursor {
        private final DeltaPairs list;
        private int group = -1;
        private int left;
        private int at;
        private long key;
        private long timestamp;

        Cursor(DeltaPairs list) {
            this.list = list;
        }

        /** To the first key at or above one; {@link Long#MAX_VALUE} if there is none. */
        long advance(long wanted) {
            if (group < 0
                    || (group + 1 < list.firstKeys.length && list.firstKeys[group + 1] <= wanted)) {
                leap(wanted);
            }
            while (key < wanted) {
                if (left == 0) {
                    if (group + 1 == list.firstKeys.length) {
                        return Long.MAX_VALUE;
                    }
                    open(group + 1);
                } else {
                    left--;
                    key += read();
                    long step = read();
                    timestamp += (step >>> 1) ^ -(step & 1);
                }
            }
            return key;
        }

        /** To the last group that begins at or below a key, by steps that double. */
        private void leap(long wanted) {
            long[] firsts = list.firstKeys;
            int low = Math.max(0, group);
            int step = 1;
            while (low + step < firsts.length && firsts[low + step] <= wanted) {
                low += step;
                step <<= 1;
            }
            int high = Math.min(firsts.length, low + step);
            int found = Arrays.binarySearch(firsts, low, high, wanted);
            open(found >= 0 ? found : Math.max(low, -found - 2));
        }

        private void open(int newGroup) {
            group = newGroup;
            at = list.offsets[group];
            key = list.firstKeys[group];
            timestamp = read();
            left = Math.min(GROUP_COUNT, list.count - group * GROUP_COUNT) - 1;
        }

        private long read() {
            long value = 0;
            int shift = 0;
            while (true) {
                byte b = list.bytes[at++];
                value |= (long) (b & 0x7F) << shift;
                if (b >= 0) {
                    return value;
                }
                shift += 7;
            }
        }

        long timestamp() {
            return timestamp;
        }
    }

    /** Keys that two lists have with the same timestamp: the rarer one leads. */
    static int common(DeltaPairs a, DeltaPairs b) {
        Cursor leader = new Cursor(a.count <= b.count ? a : b);
        Cursor follower = new Cursor(a.count <= b.count ? b : a);
        int common = 0;
        long key = leader.advance(0);
        while (key != Long.MAX_VALUE) {
            long other = follower.advance(key);
            if (other == key) {
                common += leader.timestamp() == follower.timestamp() ? 1 : 0;
                other++;
            }
            key = other == Long.MAX_VALUE ? other : leader.advance(other);
        }
        return common;
    }
}
