package io.turbidite.feeds.web;

import java.util.Arrays;

/** Times of many requests. <em>Confined to one thread.</em> */
final class Latencies {
    private long[] nanos = new long[1 << 10];
    private int count;

    void add(long one) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, 2 * count);
        }
        nanos[count++] = one;
    }

    int count() {
        return count;
    }

    /** That of which this part of all is not longer, 0 to 1, in milliseconds. */
    double millis(double part) {
        long[] sorted = Arrays.copyOf(nanos, count);
        Arrays.sort(sorted);
        return sorted[(int) (part * (count - 1))] / 1e6;
    }
}
