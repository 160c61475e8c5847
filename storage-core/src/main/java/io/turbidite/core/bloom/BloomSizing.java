package io.turbidite.core.bloom;

/**
 * How many blocks and probes a blocked filter needs for an asked false positive rate.
 *
 * <p><em>Immutable.</em> In a blocked filter the keys of a block are a Poisson number, and the full
 * blocks err more than the empty ones save: a plain filter's formula asks too few bits (1 bit a key
 * too few at 1 %, 4 at 0.1 %). So the rate is computed as it is:
 *
 * <pre>
 * rate(load, k) = sum over j of Poisson(j; load) * (1 - (1 - 1/512)^(j*k))^k
 * </pre>
 *
 * where load is keys per block, and the largest load that meets the rate is searched for each k.
 * Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (LUO19 [25]).
 *
 * @param probes bits set for each key
 * @param keysPerBlock mean number of keys in one block of 512 bits
 */
record BloomSizing(int probes, double keysPerBlock) {
    static final double RATE_MIN = 1e-6;
    static final double RATE_MAX = 0.5;
    private static final double BLOCK_BITS = 8.0 * BloomFormat.BLOCK_BYTES;

    /** The sizing that was computed last: every component of an index asks for the same one. */
    private static volatile Memo memo = new Memo(0.01, compute(0.01));

    private record Memo(double rate, BloomSizing sizing) {}

    static BloomSizing forRate(double rate) {
        Memo last = memo;
        if (last.rate != rate) {
            last = new Memo(rate, compute(rate));
            memo = last;
        }
        return last.sizing;
    }

    long blockCount(long keyCount) {
        double blocks = Math.ceil(keyCount / keysPerBlock);
        return Math.min(BloomFormat.BLOCK_COUNT_MAX, Math.max(1, (long) blocks));
    }

    private static BloomSizing compute(double rate) {
        BloomSizing best = new BloomSizing(1, 0);
        for (int probes = 1; probes <= BloomFormat.PROBES_MAX; probes++) {
            double load = largestLoad(rate, probes);
            // a probe more must save at least 1 % of the memory
            if (load > best.keysPerBlock * 1.01) {
                best = new BloomSizing(probes, load);
            }
        }
        return best;
    }

    private static double largestLoad(double rate, int probes) {
        double low = 0;
        double high = BLOCK_BITS;
        for (int i = 0; i < 40; i++) {
            double middle = (low + high) / 2;
            if (expectedRate(middle, probes) <= rate) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The rate of a filter with {@code load} keys per block in the mean. */
    static double expectedRate(double load, int probes) {
        double poisson = Math.exp(-load);
        double rate = 0;
        int last = (int) (load + 12 * Math.sqrt(load) + 24);
        for (int keys = 1; keys <= last; keys++) {
            poisson *= load / keys;
            double fill = 1 - Math.pow(1 - 1 / BLOCK_BITS, (double) keys * probes);
            rate += poisson * Math.pow(fill, probes);
        }
        return rate;
    }
}
