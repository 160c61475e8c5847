package io.turbidite.core.log;

import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * What a log must hold: everything that was published, how much of that was acknowledged as
 * durable, and where the manifest says replay begins. <em>Confined to one thread.</em>
 */
final class LogOracle {
    private final NavigableMap<Long, byte[]> published = new TreeMap<>();
    private long durable;
    private long start;

    void publish(long sequence, byte[] payload) {
        published.put(sequence, payload);
    }

    /** Everything below has been acknowledged. */
    void acknowledge(long newDurable) {
        durable = Math.max(durable, newDurable);
    }

    /** The manifest now names this position. */
    void moveStart(long newStart) {
        start = newStart;
        acknowledge(newStart);
    }

    long start() {
        return start;
    }

    long durable() {
        return durable;
    }

    /** The sequence after the last one published. */
    long end() {
        return published.isEmpty() ? start : published.lastKey() + 1;
    }

    /**
     * Requires that {@code replayed} is what was published from the start position up to some
     * point, and not short of what was acknowledged.
     */
    void check(NavigableMap<Long, byte[]> replayed) {
        long end = replayed.isEmpty() ? start : replayed.lastKey() + 1;
        NavigableMap<Long, byte[]> expected =
                published.subMap(start, true, Math.max(end, start), false);
        compare(expected, replayed);
        Map<Long, byte[]> acknowledged =
                published.subMap(start, true, Math.max(durable, start), false);
        for (Long sequence : acknowledged.keySet()) {
            if (!replayed.containsKey(sequence)) {
                throw new AssertionError(
                        "record %d was acknowledged (durable below %d) and is lost; replay ends at %d"
                                .formatted(sequence, durable, end));
            }
        }
    }

    /** Goes on from what recovery has found: that, and nothing else, is what the log holds. */
    void adopt(NavigableMap<Long, byte[]> replayed) {
        published.clear();
        published.putAll(replayed);
        durable = Math.max(start, end());
    }

    static void compare(Map<Long, byte[]> expected, Map<Long, byte[]> found) {
        if (!expected.keySet().equals(found.keySet())) {
            throw new AssertionError(
                    "records %s should be %s".formatted(found.keySet(), expected.keySet()));
        }
        expected.forEach((sequence, payload) -> {
            if (!Arrays.equals(payload, found.get(sequence))) {
                throw new AssertionError("record " + sequence + " has other content");
            }
        });
    }

    /** Bytes that say whose they are. */
    static byte[] payload(long sequence, int length, SplittableRandom random) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        for (int i = 0; i < Math.min(8, length); i++) {
            bytes[i] = (byte) (sequence >>> (8 * i));
        }
        return bytes;
    }
}
