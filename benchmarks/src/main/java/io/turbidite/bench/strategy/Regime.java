package io.turbidite.bench.strategy;

import io.turbidite.bench.peer.Tweet;

/**
 * Where the data lies while an experiment runs. <em>Immutable.</em>
 *
 * @param name of its tables
 * @param cacheBytes the buffer cache
 * @param writeMemoryBytes memory components
 * @param directIo past the page cache of the system
 * @param isByWall whether wall time is the figure, not the CPU time of the process
 */
record Regime(
        String name, long cacheBytes, long writeMemoryBytes, boolean directIo, boolean isByWall) {
    private static final long MIB = 1 << 20;

    /**
     * All components in cache, and little write memory, so that they are many; the figure is CPU
     * time.
     */
    static Regime inCache() {
        return new Regime("in cache, CPU time", 1L << 30, 16 * MIB, false, false);
    }

    /**
     * The papers': a cache of 5 % of the tweets, read past the system's; the figure is wall time.
     */
    static Regime small(int tweets) {
        long bytes = tweets * Tweet.meanBytes();
        return new Regime(
                "cache of 5 %, direct I/O, wall time",
                Math.max(8 * MIB, bytes / 20), Math.max(16 * MIB, bytes / 20), true, true);
    }
}
