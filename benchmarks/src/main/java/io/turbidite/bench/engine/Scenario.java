package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.HyracksEngine;
import io.turbidite.bench.peer.PeerOptions;
import io.turbidite.bench.peer.RecordSize;
import io.turbidite.bench.peer.RocksEngine;
import io.turbidite.bench.peer.TurbiditeEngine;
import io.turbidite.core.log.Durability;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * One table of the engine suite.
 *
 * @param title what distinguishes it
 * @param secondaries secondary indexes, 1 to 4
 * @param updateRatio share of upserts that hit a past tweet
 * @param cacheBytes buffer cache
 * @param directIo past the page cache, so that what the cache does not hold costs a read
 * @param size of the records
 * @param withHyracks Hyracks takes part: it has no direct I/O
 */
record Scenario(
        String title,
        int secondaries,
        double updateRatio,
        long cacheBytes,
        boolean directIo,
        RecordSize size,
        boolean withHyracks) {
    private static final long MIB = 1 << 20;
    private static final long IN_CACHE = 1_024 * MIB;
    private static final long SMALL_CACHE = 32 * MIB;

    /** All that the suite knows: tweets, the cheapest first, then small records. */
    static List<Scenario> all() {
        List<Scenario> all = new ArrayList<>();
        for (int secondaries : new int[] {1, 4}) {
            for (double updates : new double[] {0.1, 0.5}) {
                String title = "%d secondary ind%s, %.0f %% updates, all in cache"
                        .formatted(secondaries, secondaries == 1 ? "ex" : "exes", updates * 100);
                all.add(new Scenario(
                        title,
                        secondaries,
                        updates,
                        IN_CACHE,
                        false,
                        RecordSize.TWEETS,
                        secondaries == 1));
            }
        }
        for (double updates : new double[] {0.1, 0.5}) {
            String title = "1 secondary index, %.0f %% updates, cache of 32 MiB and direct I/O"
                    .formatted(updates * 100);
            all.add(new Scenario(title, 1, updates, SMALL_CACHE, true, RecordSize.TWEETS, false));
        }
        String title = "records of %s, 1 secondary index, 10 %% updates, all in cache"
                .formatted(RecordSize.SMALL.words());
        all.add(new Scenario(title, 1, 0.1, IN_CACHE, false, RecordSize.SMALL, true));
        return all;
    }

    /** Write memory: an eighth where the cache is small, so that there are components to search. */
    long writeMemoryBytes() {
        return directIo ? 16 * MIB : 128 * MIB;
    }

    List<String> engineNames() {
        return withHyracks
                ? List.of("Turbidite", "RocksDB", "Hyracks")
                : List.of("Turbidite", "RocksDB");
    }

    /** Opens engine number {@code index} of {@link #engineNames} over an empty directory. */
    Engine open(int index, Path directory, Durability durability) {
        PeerOptions options = new PeerOptions(
                directory, writeMemoryBytes(), cacheBytes, secondaries, directIo, durability);
        // where memory is what is scarce, nobody may hold more of it than the others
        Function<PeerOptions, Engine> rocks = directIo ? RocksEngine::bounded : RocksEngine::new;
        List<Function<PeerOptions, Engine>> engines =
                List.of(TurbiditeEngine::new, rocks, HyracksEngine::new);
        return engines.get(index).apply(options);
    }

    /** What each engine has of it. */
    String memory() {
        String memory = "write memory %d MiB, cache %,d MiB, each"
                .formatted(writeMemoryBytes() / MIB, cacheBytes / MIB);
        return directIo
                ? memory + "; RocksDB's memtables together bounded by db_write_buffer_size"
                : memory + "; RocksDB's memtables may hold three times that and more";
    }

    /** How each engine reads and writes components. */
    String components() {
        String pages =
                "pages of Turbidite 16 KiB, of RocksDB 16 KiB (records) and 4 KiB (secondaries)%s"
                        .formatted(withHyracks ? ", of Hyracks 32 KiB" : "");
        return directIo
                ? pages + "; both: direct reads, flushes and merges, a checksum for each page"
                : pages + "; through the page cache";
    }
}
