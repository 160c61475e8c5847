package io.turbidite.bench.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.turbidite.bench.report.Report;
import io.turbidite.core.Cleanup;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.KeyValueStore;
import io.turbidite.lsm.RuntimeOptions;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.StoreRuntime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** What stores cost that were written to, flushed, and left alone: CPU, threads, disk. */
public final class IdleRun {
    private static final int RECORD_COUNT = 1_000;
    private static final int VALUE_BYTES = 100;

    /** A log lets its space go after ten seconds. */
    private static final long REST_NANOS = 20_000_000_000L;

    private final int storeCount;
    private final int seconds;
    private final boolean shares;
    private final Path directory;
    private final Clock clock = Clock.system();

    /**
     * @param seconds how long they are watched
     * @param shares whether they share a runtime
     * @param directory for the stores; emptied
     */
    public IdleRun(int storeCount, int seconds, boolean shares, Path directory) {
        this.storeCount = storeCount;
        this.seconds = seconds;
        this.shares = shares;
        this.directory = directory;
    }

    public Report run() {
        Report report = new Report("Stores to which nobody talks", List.of("measured", "aim"))
                .setting("machine", Report.machine())
                .setting(
                        "stores",
                        "%d, %,d flushed records of %d bytes each%s"
                                .formatted(
                                        storeCount,
                                        RECORD_COUNT,
                                        VALUE_BYTES,
                                        shares ? ", one runtime" : ""))
                .setting("watched", seconds + " s, from 20 s after the last write on")
                .setting(
                        "command",
                        "./turbidite bench idle --stores %d --seconds %d%s"
                                .formatted(storeCount, seconds, shares ? "" : " --alone"));
        Path root = Scratch.empty(directory.resolve("idle"));
        int threadsBefore = Thread.getAllStackTraces().size();
        StoreRuntime runtime = StoreRuntime.create(RuntimeOptions.defaults());
        List<Store> stores = new ArrayList<>();
        Cleanup all = new Cleanup();
        try {
            StoreOptions options = StoreOptions.defaults();
            for (int i = 0; i < storeCount; i++) {
                stores.add(filled(
                        root.resolve("store" + i),
                        shares ? options.withRuntime(runtime) : options));
            }
            rest(REST_NANOS);
            long cpu = Costs.cpuNanos();
            long start = clock.monotonicNanos();
            rest(seconds * 1_000_000_000L);
            double share = 100.0 * (Costs.cpuNanos() - cpu) / (clock.monotonicNanos() - start);
            report.add("CPU, % of a core", "measured", share);
            report.add("CPU, % of a core", "aim", 0.5);
            report.add("threads", "measured", Thread.getAllStackTraces().size() - threadsBefore);
            report.add("threads", "aim", 12);
            report.add("disk of the largest store, KiB", "measured", largest(root) / 1024.0);
            report.add("disk of the largest store, KiB", "aim", 1024);
        } finally {
            all.addAll(stores, Store::close).add(runtime::close).run();
        }
        Scratch.delete(root);
        return report;
    }

    private static Store filled(Path path, StoreOptions options) {
        Store store = Store.open(path, options);
        KeyValueStore map = KeyValueStore.in(store, "map");
        for (int i = 0; i < RECORD_COUNT; i++) {
            map.put(("key" + i).getBytes(UTF_8), new byte[VALUE_BYTES]);
        }
        map.dataset().flush();
        return store;
    }

    private void rest(long nanos) {
        long end = clock.monotonicNanos() + nanos;
        for (long left = nanos; left > 0; left = end - clock.monotonicNanos()) {
            LockSupport.parkNanos(this, left);
        }
    }

    private long largest(Path root) {
        long largest = 0;
        for (int i = 0; i < storeCount; i++) {
            try (Stream<Path> files = Files.walk(root.resolve("store" + i))) {
                largest = Math.max(
                        largest,
                        files.filter(Files::isRegularFile)
                                .mapToLong(file -> file.toFile().length())
                                .sum());
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
        return largest;
    }
}
