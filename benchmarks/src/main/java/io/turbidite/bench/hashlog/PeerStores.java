package io.turbidite.bench.hashlog;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;

import io.turbidite.bench.engine.Costs;
import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.report.Report;

import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Ingestion by key beside a key-value store (FISH19 Fig. 10): the hash log with a PSF on the key
 * field alone, and RocksDB, which is given the record under that field, found by Jackson's
 * streaming parser, with early stop, as FISH19's "RDB-RJ" does with RapidJSON. Both write to files;
 * no log and no sync for RocksDB, as in the paper.
 */
final class PeerStores {
    private static final long MEMORY_BYTES = 128 << 20;

    /**
     * The data is given again and again up to so much; what a store costs at all should not count.
     */
    private static final long GIVEN_BYTES = 256 << 20;

    private final HashLogSuite suite;
    private final int rounds;
    private final Path scratch;

    PeerStores(HashLogSuite suite, int rounds, Path scratch) {
        this.suite = suite;
        this.rounds = rounds;
        this.scratch = scratch;
    }

    Report byKey() {
        RocksDB.loadLibrary();
        Report report = suite.report(
                        "Ingestion by key to files, GB per CPU second of the process",
                        List.of("hash log", "RocksDB"))
                .setting("hash log", "one PSF, field of the key; flushed and durable at the end")
                .setting(
                        "RocksDB",
                        "write buffer of 128 MiB, no compression, no write-ahead log, flushed at the end; keys by Jackson")
                .setting("paper", "Fig. 10: several times RocksDB");
        Map<Workload, String> keys = Map.of(Workload.GITHUB, "id", Workload.YELP, "review_id");
        for (Workload workload : List.of(Workload.GITHUB, Workload.YELP)) {
            Corpus corpus = suite.corpus(workload);
            long[] lines = corpus.lineStarts(); // the log finds the lines itself
            String key = keys.getOrDefault(workload, "");
            String name = workload.name().toLowerCase(Locale.ROOT);
            for (int round = -1; round < rounds; round++) {
                double log = logSpeed(corpus, key);
                double rocks = rocksSpeed(corpus, lines, key);
                if (round >= 0) {
                    report.add(name, "hash log", log);
                    report.add(name, "RocksDB", rocks);
                }
            }
        }
        return report;
    }

    private static int passes(Corpus corpus) {
        return (int) Math.max(1, GIVEN_BYTES / corpus.bytes().byteSize());
    }

    private static double speed(Corpus corpus, long nanos) {
        return (double) corpus.bytes().byteSize() * passes(corpus) / nanos;
    }

    private double logSpeed(Corpus corpus, String key) {
        Path directory = Scratch.empty(scratch.resolve("hashlog-by-key"));
        long before = Costs.cpuNanos();
        try (Bed bed = Bed.onDisk(directory, MEMORY_BYTES, List.of("field(" + key + ")"))) {
            bed.ingest(corpus, 1, passes(corpus));
        }
        double speed = speed(corpus, Costs.cpuNanos() - before);
        Scratch.delete(directory);
        return speed;
    }

    private double rocksSpeed(Corpus corpus, long[] lines, String key) {
        Path directory = Scratch.empty(scratch.resolve("rocksdb-by-key"));
        JsonFactory json = new JsonFactory();
        long before = Costs.cpuNanos();
        try (Options options = new Options()
                        .setCreateIfMissing(true)
                        .setWriteBufferSize(MEMORY_BYTES)
                        .setMaxBackgroundJobs(2)
                        .setCompressionType(CompressionType.NO_COMPRESSION);
                WriteOptions writing = new WriteOptions().setDisableWAL(true);
                FlushOptions flushing = new FlushOptions().setWaitForFlush(true);
                RocksDB db = RocksDB.open(options, directory.toString())) {
            for (int pass = 0; pass < passes(corpus); pass++) {
                for (int i = 0; i + 1 < lines.length; i++) {
                    byte[] record = corpus.bytes()
                            .asSlice(lines[i], lines[i + 1] - 1 - lines[i])
                            .toArray(ValueLayout.JAVA_BYTE);
                    db.put(writing, keyOf(json, record, key, pass), record);
                }
            }
            db.flush(flushing);
        } catch (RocksDBException | IOException failed) {
            throw new IllegalStateException(failed);
        }
        double speed = speed(corpus, Costs.cpuNanos() - before);
        Scratch.delete(directory);
        return speed;
    }

    /** The key, with the pass before it: all records are new ones. */
    private static byte[] keyOf(JsonFactory json, byte[] record, String key, int pass)
            throws IOException {
        try (JsonParser parser = json.createParser(record)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                boolean isKey = parser.currentName().equals(key);
                parser.nextToken();
                if (isKey) {
                    return (pass + parser.getText()).getBytes(StandardCharsets.UTF_8);
                }
                parser.skipChildren();
            }
        }
        throw new IllegalStateException("a record without " + key);
    }
}
