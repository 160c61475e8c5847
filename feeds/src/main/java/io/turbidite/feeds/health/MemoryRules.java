package io.turbidite.feeds.health;

import io.turbidite.feeds.health.Finding.Unit;

import java.util.List;

/** Rules of reading, memory and cache. Static, without state. */
final class MemoryRules {
    private static final int REQUESTS_MIN = 10_000;

    private MemoryRules() {}

    static final List<Rule> ALL = List.of(
            Rule.warn(
                            "trash.bytes",
                            Measure.now(),
                            0,
                            Unit.BYTES,
                            "files that no manifest names were put aside",
                            "./turbidite trash STORE lists them; if nothing had crashed, check"
                                    + " MANIFEST first")
                    .ofFiles(),
            Rule.warn(
                    "cursors.open",
                    Measure.risen(),
                    60,
                    Unit.COUNT_A_MINUTE,
                    "open cursors only become more: some are never closed",
                    "close cursors, scans and results when they have been read"),
            Rule.warn(
                    "lookup.searches",
                    Measure.grownFor("lookup.keys", REQUESTS_MIN),
                    300,
                    Unit.PERCENT,
                    "fetches search several components for each record",
                    "merge more: many components hold versions of the same keys"),
            Rule.warn(
                    "validation.searches",
                    Measure.grownFor("validation.candidates", REQUESTS_MIN),
                    300,
                    Unit.PERCENT,
                    "readers search several key trees to validate an index entry",
                    "repair the index (./turbidite repair STORE), or merge more"),
            Rule.warn(
                    "memory.budget.bytes",
                    Measure.computed(
                            List.of("memory.used.bytes", "memory.budget.bytes"),
                            minute -> Measure.share(
                                            minute.least("memory.used.bytes"),
                                            minute.now("memory.budget.bytes"),
                                            1)
                                    .orElse(0)),
                    97,
                    Unit.PERCENT_OF_BOUND,
                    "memory stays nearly used up",
                    "give the store more memory, or run fewer queries and merges together"),
            Rule.warn(
                    "memory.queries.bytes",
                    Measure.leastShareOf("bound:queryMemoryBytes"),
                    80,
                    Unit.PERCENT_OF_BOUND,
                    "queries hold most of their memory for long",
                    "close results that are read, or raise queryMemoryBytes: queries spill"),
            Rule.warn(
                    "cache.frames.pinned",
                    Measure.computed(
                            List.of("cache.frames.pinned", "cache.frames"),
                            minute -> Measure.share(
                                            minute.least("cache.frames.pinned"),
                                            minute.now("cache.frames"),
                                            64)
                                    .orElse(0)),
                    80,
                    Unit.PERCENT_OF_BOUND,
                    "most pages of the cache stay in use",
                    "close cursors: they stay open on pages"),
            Rule.warn(
                    "cache.loads",
                    Measure.computed(
                            List.of("cache.loads", "cache.hits"), MemoryRules::moreLoadsPercent),
                    50,
                    Unit.PERCENT,
                    "more requested pages come from disk than in the time before",
                    "give the cache more memory"),
            Rule.warn(
                    "cache.load",
                    Measure.percentile("p99"),
                    5_000_000,
                    Unit.NANOS,
                    "reading a page takes long: the device is busy",
                    "give the cache more memory, or spread the load"),
            Rule.warn(
                            "disk.direct",
                            Measure.now(),
                            1,
                            Unit.COUNT,
                            "the file system refuses direct I/O, so files go through the page"
                                    + " cache",
                            "put the store on a file system that has it, or open it without")
                    .below()
                    .ofFiles());

    /** Of the minute's requests; 0 unless that is twice as many as before the minute. */
    private static long moreLoadsPercent(Minute minute) {
        long loads = minute.grown("cache.loads").orElse(0);
        long hits = minute.grown("cache.hits").orElse(0);
        long loadsBefore = minute.now("cache.loads").orElse(0) - loads;
        long hitsBefore = minute.now("cache.hits").orElse(0) - hits;
        if (loads + hits < REQUESTS_MIN || loadsBefore + hitsBefore < REQUESTS_MIN) {
            return 0;
        }
        double share = (double) loads / (loads + hits);
        double before = (double) loadsBefore / (loadsBefore + hitsBefore);
        return share > 2 * before ? Math.round(100 * share) : 0;
    }
}
