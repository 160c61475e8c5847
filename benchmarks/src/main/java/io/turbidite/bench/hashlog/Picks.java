package io.turbidite.bench.hashlog;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Records of 600 bytes with a number drawn evenly below 100,000: a predicate on it has any
 * selectivity.
 */
final class Picks {
    private static final int RECORD_BYTES = 600;
    private static final int PICK_COUNT = 100_000;

    private Picks() {}

    /** Its matches are asked by {@code where(pick < n)}, for every n. */
    static Corpus corpus(int megabytes) {
        int count = (megabytes << 20) / RECORD_BYTES;
        MemorySegment bytes = Arena.global().allocate((long) count * RECORD_BYTES, 64);
        SplittableRandom random = new SplittableRandom(7);
        long[] picked = new long[PICK_COUNT];
        for (int i = 0; i < count; i++) {
            int pick = random.nextInt(PICK_COUNT);
            picked[pick]++;
            String head = "{\"n\":%d,\"pick\":%d,\"text\":\"".formatted(i, pick);
            String line = head + "x".repeat(RECORD_BYTES - head.length() - 3) + "\"}\n";
            byte[] utf8 = line.getBytes(StandardCharsets.UTF_8);
            MemorySegment.copy(
                    utf8, 0, bytes, ValueLayout.JAVA_BYTE, (long) i * RECORD_BYTES, RECORD_BYTES);
        }
        Map<String, Long> matches = new HashMap<>();
        long below = 0;
        for (int n = 0; n < PICK_COUNT; n++) {
            matches.put("where(pick < %d)".formatted(n), below);
            below += picked[n];
        }
        return new Corpus(Workload.YELP, "numbers", bytes, count, matches);
    }
}
