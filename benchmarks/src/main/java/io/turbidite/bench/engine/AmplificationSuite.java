package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.PeerOptions;
import io.turbidite.bench.peer.RocksEngine;
import io.turbidite.bench.peer.TurbiditeEngine;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Report;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * What a load writes and what it leaves on disk, part by part, as bytes for each byte of tweets.
 * RocksDB runs twice: as in the other tables, where its memtables together may hold three times the
 * write memory, and with no more of it than ours.
 *
 * <p>A million tweets are half a dozen flushes, so that one more or less decides what merges write,
 * and RocksDB has no levels to keep yet. Levels show from some 6 million on
 * ({@code --upserts 6000000}, 3 GB).
 */
public final class AmplificationSuite {
    private static final long MIB = 1 << 20;
    private static final long WRITE_MEMORY = 128 * MIB;
    private static final long CACHE = 512 * MIB;

    private final int upserts;
    private final double updateRatio;
    private final Path directory;

    /**
     * @param upserts tweets
     * @param updateRatio share of upserts that hit a past tweet
     * @param directory for the stores; emptied
     */
    public AmplificationSuite(int upserts, double updateRatio, Path directory) {
        this.upserts = upserts;
        this.updateRatio = updateRatio;
        this.directory = directory;
    }

    public Report run() {
        Map<String, Function<PeerOptions, Engine>> engines = new LinkedHashMap<>();
        engines.put("Turbidite", TurbiditeEngine::new);
        engines.put("RocksDB", RocksEngine::new);
        engines.put("RocksDB, same memory", RocksEngine::bounded);
        Report report = new Report(
                        "Bytes written and kept, %.0f %% updates".formatted(updateRatio * 100),
                        engines.keySet().stream().toList())
                .setting("machine", Report.machine())
                .setting("tweets", "%,d of about 500 bytes, 1 secondary index".formatted(upserts))
                .setting("memory", "write memory %d MiB".formatted(WRITE_MEMORY / MIB))
                .setting("durability", "log on, no sync per write, no compression")
                .setting(
                        "command",
                        "./turbidite bench amplification --upserts %d --updates %s"
                                .formatted(upserts, updateRatio));
        engines.forEach((name, opener) -> measure(name, opener, report));
        return report;
    }

    private void measure(String name, Function<PeerOptions, Engine> opener, Report report) {
        Path store = Scratch.empty(directory.resolve("amplification"));
        TweetSource source = new TweetSource(1, upserts, updateRatio);
        long written = Costs.writtenBytes();
        try (Engine engine = opener.apply(new PeerOptions(store, WRITE_MEMORY, CACHE, 1, false))) {
            Tweet tweet = new Tweet();
            Engine.Writer writer = engine.newWriter();
            for (int i = 0; i < upserts; i++) {
                source.next(tweet);
                writer.upsert(tweet);
            }
            engine.settle();
            written = Costs.writtenBytes() - written + engine.storedBytes();
            double allBytes = (double) upserts * Tweet.meanBytes();
            report.add("written, bytes / byte of tweets", name, written / allBytes);
            engine.writtenParts()
                    .forEach((part, bytes) ->
                            report.add("written: " + part, name, bytes / allBytes));
            double liveBytes = (double) source.distinctCount() * Tweet.meanBytes();
            report.add("disk, bytes / byte of live tweets", name, engine.diskBytes() / liveBytes);
            engine.diskParts()
                    .forEach((part, bytes) -> report.add("disk: " + part, name, bytes / liveBytes));
        }
        Scratch.delete(store);
    }
}
