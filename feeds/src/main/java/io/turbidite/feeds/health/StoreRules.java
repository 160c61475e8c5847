package io.turbidite.feeds.health;

import io.turbidite.feeds.health.Finding.Unit;

import java.util.List;

/** Rules of writing, and of flushes, merges and other background work. Static, without state. */
final class StoreRules {
    private static final long MIB = 1 << 20;

    private StoreRules() {}

    static final List<Rule> ALL = List.of(
            Rule.warn(
                    "write.delay.time",
                    Measure.grown(),
                    6_000_000_000L,
                    Unit.NANOS_A_MINUTE,
                    "writers wait to keep the pace that flushes and merges can follow",
                    "take more mergeWorkers, a laxer merge policy, or fewer indexes"),
            Rule.warn(
                    "write.stall.time",
                    Measure.percentile("p99"),
                    100_000_000,
                    Unit.NANOS,
                    "writers stand still because write memory is full",
                    "give the store more write memory, or a faster disk"),
            Rule.warn(
                    "memory.unflushed.bytes",
                    Measure.leastShareOf("bound:writeMemoryBytes"),
                    90,
                    Unit.PERCENT_OF_BOUND,
                    "write memory stays nearly full: the disk is slower than the writers",
                    "give the store a faster disk, or the writers less to do"),
            Rule.warn(
                    "log.bytes",
                    Measure.leastShareOf("bound:logBytesMax"),
                    95,
                    Unit.PERCENT_OF_BOUND,
                    "the log stays as large as it may be: flushes are too slow",
                    "raise logBytesMax, or give the store a faster disk"),
            Rule.warn(
                    "log.waits",
                    Measure.risen(),
                    60,
                    Unit.COUNT_A_MINUTE,
                    "writers wait for room in the log all the time",
                    "give the log a faster disk"),
            Rule.warn(
                    "log.segments.made",
                    Measure.grownFor("flush.time:count", 8),
                    99,
                    Unit.PERCENT,
                    "each flush has the log make new segments instead of using old ones again",
                    "raise logBytesMax: it is small for the write memory"),
            Rule.bad(
                    "log.refuges",
                    Measure.now(),
                    0,
                    Unit.COUNT,
                    "the log met a full disk and went on in its reserve",
                    "free space on the disk"),
            Rule.warn(
                    "flush.time",
                    Measure.computed(
                            List.of("flush.time:p99", "write.bytes", "bound:writeMemoryBytes"),
                            StoreRules::filledPercent),
                    100,
                    Unit.PERCENT,
                    "writers fill half of the write memory while a slow flush is under way",
                    "give the store more write memory, or a faster disk"),
            Rule.warn(
                    "merge.backlog.bytes",
                    Measure.risen(),
                    64 * MIB,
                    Unit.BYTES_A_MINUTE,
                    "what merges have still to read only grows",
                    "take more mergeWorkers, a laxer merge policy, or fewer indexes"),
            Rule.warn(
                    "merge.backlog.components",
                    Measure.leastShareOf("bound:backlogComponentsMax"),
                    25,
                    Unit.PERCENT_OF_BOUND,
                    "merges are behind, so that writers are slowed down; they stop at 100 %",
                    "take more mergeWorkers, a laxer merge policy, or fewer indexes"),
            Rule.warn(
                            "merge.pace.bytes",
                            Measure.middle().whileGrows("merge.backlog.components"),
                            16 * MIB + 1,
                            Unit.BYTES,
                            "merges are held to the slowest pace and fall behind: the device is too"
                                    + " slow for sync and these merges together",
                            "put the log on another device, or write less durably")
                    .below(),
            Rule.warn(
                    "cache.background.bytes",
                    Measure.least(),
                    0,
                    Unit.BYTES,
                    "readers pin the whole cache, so background work reads beside it",
                    "give the cache more memory, or close open cursors"),
            Rule.warn(
                    "cache.large.bytes",
                    Measure.middle(),
                    0,
                    Unit.BYTES,
                    "pages larger than the whole cache are read beside it",
                    "raise the cache above the largest records"),
            Rule.bad(
                            "components.quarantined",
                            Measure.now(),
                            0,
                            Unit.COUNT,
                            "damaged components are set aside",
                            "./turbidite quarantine STORE lists them, and restores them from a"
                                    + " backup")
                    .ofFiles(),
            Rule.bad(
                    "background.pauses",
                    Measure.now(),
                    0,
                    Unit.COUNT,
                    "flushes or merges gave up because space or files ran out",
                    "free space on the disk"),
            Rule.warn(
                    "repair.moves",
                    Measure.grown(),
                    3,
                    Unit.COUNT_A_MINUTE,
                    "strategy auto moves repairs to and fro",
                    "the load swings about the limit: choose a strategy for the index"),
            Rule.warn(
                            "deferred.garbage.percent",
                            Measure.now(),
                            30,
                            Unit.PERCENT,
                            "queries of a deferred index fetch obsolete entries in vain",
                            "merge the primary: ./turbidite merge STORE DATASET")
                    .ofFiles(),
            Rule.warn(
                    "bitmap.kills.bytes",
                    Measure.shareOf("bound:writeMemoryBytes"),
                    80,
                    Unit.PERCENT_OF_BOUND,
                    "invalidations that open snapshots and views need nearly fill their memory:"
                            + " then writes of mutable-bitmap datasets wait, and fail",
                    "close old snapshots and views"),
            Rule.warn(
                    "bitmap.save.bytes",
                    Measure.grownFor("flush.bytes", 16 * MIB),
                    80,
                    Unit.PERCENT,
                    "validity bitmaps take as much writing as flushes",
                    "give the store more write memory: it flushes less often then"),
            Rule.warn(
                    "sidefile.full",
                    Measure.now(),
                    0,
                    Unit.COUNT,
                    "merges had no memory for their side-files",
                    "give the store more write memory"),
            Rule.warn(
                    "handover.locks.refused",
                    Measure.grown(),
                    0,
                    Unit.COUNT_A_MINUTE,
                    "merges had no memory for locks and took a side-file",
                    "give the store more write memory, or set bitmapHandover to sidefile"));

    /** How much of half of the write memory writers fill in the time of a slow flush. */
    private static long filledPercent(Minute minute) {
        double perNano = (double) minute.grown("write.bytes").orElse(0) / minute.nanos();
        long half = minute.now("bound:writeMemoryBytes").orElse(Long.MAX_VALUE) / 2;
        return Math.round(100 * perNano * minute.now("flush.time:p99").orElse(0) / half);
    }
}
