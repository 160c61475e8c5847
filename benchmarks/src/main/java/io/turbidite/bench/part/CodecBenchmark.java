package io.turbidite.bench.part;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Bytes made and read: keys, records, Bloom filters, checksums. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls make() first
public class CodecBenchmark {
    private static final int FILTER_KEYS = 1_000_000;

    /** Characters of a record's text. */
    @Param({"20", "500"})
    public int textChars;

    private final SplittableRandom random = new SplittableRandom(1);
    private final ByteSink sink = new ByteSink(1 << 12, 1 << 20);
    private final Slice key = new Slice();
    private final Crc32c crc = new Crc32c();
    private RecordWriter writer;
    private RecordView view;
    private KeySpec byName;
    private Slice record;
    private Map<String, Object> row;
    private BloomFilter filter;

    /** Makes a record, its key and a filter. */
    @Setup
    public void make() throws Exception {
        Path directory = Files.createTempDirectory("turbidite-bench");
        RecordType type;
        try (Store store = Store.open(directory)) {
            type = store.createDataset(DatasetSpec.named("D")
                            .field("id", "int64")
                            .field("name", "string")
                            .field("score", "double")
                            .field("text", "string")
                            .primaryKey("id"))
                    .type();
        }
        io.turbidite.bench.engine.Scratch.delete(directory);
        writer = new RecordWriter(type);
        view = new RecordView(type);
        byName = KeySpec.of(type, List.of("name", "id"), "key");
        row = Map.of("id", 7L, "name", "a name", "score", 1.5, "text", "t".repeat(textChars));
        record = Slice.of(writer.write(row).toByteArray());
        BloomFilter.Builder builder = BloomFilter.builder(FILTER_KEYS, 0.01);
        for (long i = 0; i < FILTER_KEYS; i++) {
            builder.add(hash(i));
        }
        filter = builder.build();
    }

    private long hash(long id) {
        return BloomFilter.hash(sink.clear().putLongBigEndian(id).asSlice(key));
    }

    /** A key of two fields out of a record. */
    @Benchmark
    public int keyEncode() {
        sink.clear();
        byName.append(view.wrap(record), sink);
        return sink.length();
    }

    /** A record out of a map. */
    @Benchmark
    public int recordWrite() {
        return writer.write(row).length();
    }

    /** Two fields of a record. */
    @Benchmark
    public double recordRead() {
        view.wrap(record);
        return view.getLong(0) + view.getDouble(2);
    }

    /** A key that is not in a filter of a million; its hash is made too. */
    @Benchmark
    public boolean bloomAbsent() {
        return filter.mayContain(hash(FILTER_KEYS + (random.nextLong() >>> 1)));
    }

    /** Of a record's bytes. */
    @Benchmark
    public int checksum() {
        MemorySegment bytes = record.segment();
        return crc.compute(bytes, record.offset(), record.length());
    }
}
