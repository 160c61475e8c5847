package io.turbidite.bench.hashlog;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.sun.management.ThreadMXBean;

import io.turbidite.hashlog.parse.ScanMode;
import io.turbidite.hashlog.psf.Properties;
import io.turbidite.hashlog.psf.PropertyExtractor;
import io.turbidite.hashlog.psf.PsfSet;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parsing and PSF evaluation alone, one thread, bytes per second of CPU:
 * {@code ParseBenchmark KIND FILE [ROUNDS]}. The counts are compared with those of the generator,
 * which lie beside the file.
 */
public final class ParseBenchmark {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final int WARM_UP_ROUNDS = 12;

    private final Workload workload;
    private final PsfSet psfs;
    private final RecordFile file;
    private final String statistics;

    private ParseBenchmark(Workload workload, Path path) throws IOException {
        this.workload = workload;
        this.psfs = workload.psfs();
        this.file = RecordFile.read(path);
        this.statistics = Files.readString(Path.of(path + ".stats.json"));
    }

    public static void main(String[] args) throws IOException {
        Workload workload = Workload.valueOf(args[0].toUpperCase(Locale.ROOT));
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 9;
        ParseBenchmark benchmark = new ParseBenchmark(workload, Path.of(args[1]));
        Map<String, Round> ways = new LinkedHashMap<>();
        for (ScanMode mode : ScanMode.values()) {
            if (mode.isAvailable()) {
                PropertyExtractor extractor = benchmark.psfs.newExtractor(mode);
                ways.put(mode.name(), () -> benchmark.extractAll(extractor));
            }
        }
        ways.put("JACKSON", benchmark::jacksonAll);
        benchmark.measure(ways, rounds);
    }

    private interface Round {
        /** Returns how many bytes it went through. */
        long run() throws IOException;
    }

    /** The ways take turns, so that what else the machine does slows all of them. */
    private void measure(Map<String, Round> ways, int rounds) throws IOException {
        Map<String, double[]> speeds = new LinkedHashMap<>();
        Map<String, Long> allocated = new LinkedHashMap<>();
        for (Map.Entry<String, Round> way : ways.entrySet()) {
            speeds.put(way.getKey(), new double[rounds]);
            for (int i = 0; i < WARM_UP_ROUNDS; i++) {
                way.getValue().run();
            }
        }
        for (int i = 0; i < rounds; i++) {
            for (Map.Entry<String, Round> way : ways.entrySet()) {
                long cpu = THREADS.getCurrentThreadCpuTime();
                long before = THREADS.getCurrentThreadAllocatedBytes();
                long bytes = way.getValue().run();
                allocated.put(way.getKey(), THREADS.getCurrentThreadAllocatedBytes() - before);
                double nanos = THREADS.getCurrentThreadCpuTime() - cpu;
                Objects.requireNonNull(speeds.get(way.getKey()))[i] = bytes / nanos;
            }
        }
        speeds.forEach((way, all) -> {
            Arrays.sort(all);
            System.out.printf(
                    Locale.ROOT,
                    "%-14s %-8s %5.2f GB/s of CPU (median of %d, best %.2f), %.1f B garbage a record%n",
                    workload,
                    way,
                    all[rounds / 2],
                    rounds,
                    all[rounds - 1],
                    (double) Objects.requireNonNull(allocated.get(way)) / file.count());
        });
    }

    private long extractAll(PropertyExtractor extractor) {
        Properties properties = new Properties();
        long[] counts = new long[psfs.ids().size()];
        long bytes = 0;
        for (int i = 0; i < file.count(); i++) {
            int length = file.length(i);
            if (!extractor.extract(file.bytes, file.starts[i], length, properties)) {
                throw new IllegalStateException("record " + i + ": " + extractor.rejection());
            }
            for (int p = 0; p < properties.count(); p++) {
                counts[properties.psfId(p)]++;
            }
            bytes += length;
        }
        check(counts);
        return bytes;
    }

    private void check(long[] counts) {
        workload.counted.forEach((name, id) -> {
            Matcher matcher = Pattern.compile(Pattern.quote("\"" + name + "\": ") + "(\\d+)")
                    .matcher(statistics);
            long expected = matcher.find() ? Long.parseLong(matcher.group(1)) : -1;
            if (counts[id] != expected) {
                throw new IllegalStateException(
                        "%s: %d, the generator counts %d".formatted(name, counts[id], expected));
            }
        });
    }

    /** The whole of each record through a streaming parser that a JVM program would use. */
    private long jacksonAll() throws IOException {
        JsonFactory factory = new JsonFactory();
        long bytes = 0;
        long fields = 0;
        byte[] copy = new byte[1 << 20];
        for (int i = 0; i < file.count(); i++) {
            int length = file.length(i);
            MemorySegment.copy(file.bytes, ValueLayout.JAVA_BYTE, file.starts[i], copy, 0, length);
            try (JsonParser json = factory.createParser(copy, 0, length)) {
                json.nextToken();
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    JsonToken value = json.nextToken();
                    if (value.isStructStart()) {
                        json.skipChildren();
                    }
                    fields++;
                }
            }
            bytes += length;
        }
        if (fields < file.count()) {
            throw new IllegalStateException("fields " + fields);
        }
        return bytes;
    }
}
