package io.turbidite.lsm.strategy;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.file.RealDisk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.Maintenance;

import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Prints what handing marks over costs a writer while a merge copies what it supersedes, by each
 * method, and what a scan in no order costs against one in key order. Not a test:
 * {@code java … MutableBitmapTiming DIRECTORY [rows]}, in an empty directory.
 *
 * <p>CPU is that of the thread; the longest upsert is by the wall, and says little on a machine
 * that is shared.
 */
final class MutableBitmapTiming {
    private static final int ROUNDS = 9;
    private static final int SCANS = 15;
    private static final int COMPONENTS = 8;

    private final ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final PrintStream out = System.out;
    private final Path directory;
    private final int rows;
    private long sum;

    private MutableBitmapTiming(Path directory, int rows) {
        this.directory = directory;
        this.rows = rows;
    }

    public static void main(String[] arguments) throws Exception {
        int rows = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 150_000;
        MutableBitmapTiming timing = new MutableBitmapTiming(Path.of(arguments[0]), rows);
        timing.scans();
        Map<BitmapHandover, List<Cost>> costs = new EnumMap<>(BitmapHandover.class);
        for (int round = 0; round < ROUNDS; round++) {
            for (BitmapHandover method : BitmapHandover.values()) {
                costs.computeIfAbsent(method, key -> new ArrayList<>())
                        .add(timing.merge(method, "%s-%d".formatted(method.label(), round)));
            }
        }
        costs.forEach(timing::printMedians);
        timing.out.println(timing.sum);
    }

    /** What writes amid a merge cost. */
    private record Cost(double cpuMicros, double longestMillis) {}

    private void printMedians(BitmapHandover method, List<Cost> costs) {
        // the first one is slow: the code is new
        List<Cost> warm = costs.subList(1, costs.size());
        out.printf(
                "%-10s medians of %d merges: %.2f us CPU an upsert, longest upsert %.2f ms%n",
                method.label(),
                warm.size(),
                warm.stream().mapToDouble(Cost::cpuMicros).sorted().toArray()[warm.size() / 2],
                warm.stream().mapToDouble(Cost::longestMillis).sorted().toArray()[warm.size() / 2]);
    }

    private Store open(String name) {
        StoreOptions options = StoreOptions.defaults().withDurability(Durability.BUFFERED);
        return Store.open(
                RealDisk.open(directory.resolve(name)),
                ThreadTasks.create("timing"),
                Clock.system(),
                options);
    }

    private static Dataset create(Store store, BitmapHandover method) {
        return store.createDataset(Row.blindSpec("T")
                .maintenance(Maintenance.MUTABLE_BITMAP)
                .bitmapHandover(method)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
    }

    private static Row row(long id, int version) {
        return new Row(
                id, "user" + id % 100, version, Instant.ofEpochSecond(version), "x".repeat(100));
    }

    private Cost merge(BitmapHandover method, String name) throws Exception {
        Clock clock = Clock.system();
        try (Store store = open(name);
                ExecutorService merger = Executors.newSingleThreadExecutor()) {
            Dataset dataset = create(store, method);
            for (int i = 0; i < rows; i++) {
                dataset.upsert(row(i, 0).toMap());
            }
            dataset.flush();
            for (int i = 0; i < rows; i += 2) {
                dataset.upsert(row(i, 1).toMap());
            }
            dataset.flush();
            Future<?> merge = merger.submit(dataset::mergeAll);
            SplittableRandom random = new SplittableRandom(1);
            long cpuBefore = thread.getCurrentThreadCpuTime();
            long longest = 0;
            long count = 0;
            while (!merge.isDone()) {
                long start = clock.monotonicNanos();
                dataset.upsert(row(random.nextInt(rows), 2).toMap());
                longest = Math.max(longest, clock.monotonicNanos() - start);
                count++;
            }
            long cpu = thread.getCurrentThreadCpuTime() - cpuBefore;
            merge.get();
            out.printf(
                    "%-10s %,8d upserts amid a merge, %.2f us CPU each, longest %.2f ms%n",
                    method.label(), count, cpu / 1e3 / Math.max(1, count), longest / 1e6);
            return new Cost(cpu / 1e3 / Math.max(1, count), longest / 1e6);
        }
    }

    private void scans() {
        try (Store store = open("scans")) {
            Dataset dataset = create(store, BitmapHandover.SIDE_FILE);
            SplittableRandom random = new SplittableRandom(2);
            for (int component = 0; component < COMPONENTS; component++) {
                for (int i = 0; i < rows / COMPONENTS; i++) {
                    // half of the writes are updates
                    long id = (long) component * rows / COMPONENTS + i;
                    long written = i % 2 == 0 || id == 0 ? id : random.nextLong(id);
                    dataset.upsert(
                            row(Long.reverse(written * 0x9E3779B97F4A7C15L), i).toMap());
                }
                dataset.flush();
            }
            double[] ordered = new double[SCANS];
            double[] unordered = new double[SCANS];
            for (int i = 0; i < SCANS; i++) {
                ordered[i] = scan(dataset, true);
                unordered[i] = scan(dataset, false);
            }
            Arrays.sort(ordered);
            Arrays.sort(unordered);
            out.printf(
                    "scan of %d components: in key order %.0f ns CPU a record, in no order %.0f: %.2fx%n",
                    COMPONENTS,
                    ordered[SCANS / 2],
                    unordered[SCANS / 2],
                    ordered[SCANS / 2] / unordered[SCANS / 2]);
        }
    }

    /** CPU of the thread for each record. */
    private double scan(Dataset dataset, boolean inOrder) {
        long before = thread.getCurrentThreadCpuTime();
        long count = 0;
        try (ReadView view = dataset.openView();
                RecordStream records = inOrder
                        ? view.scan(0, KeyRange.all(), FilterPredicate.none())
                        : view.scanUnordered(0, KeyRange.all(), FilterPredicate.none())) {
            while (records.next()) {
                count++;
                sum += records.record().length();
            }
        }
        return (thread.getCurrentThreadCpuTime() - before) / (double) count;
    }
}
