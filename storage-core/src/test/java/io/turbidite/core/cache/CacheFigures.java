package io.turbidite.core.cache;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongUnaryOperator;

/**
 * Prints what a hit, a miss and a Bloom test cost, and measured false positive rates: the best of
 * many rounds, in nanoseconds of wall time. Run it without assertions.
 */
public final class CacheFigures {
    private static final Clock CLOCK = Clock.system();
    private static final int PAGE = 32 << 10;

    /** Short enough for some of the rounds to run undisturbed on a busy machine. */
    private static final int ROUND_COUNT = 20_000;

    /** Results go here, so that no loop is optimised away. */
    private static final LongAdder SINK = new LongAdder();

    private CacheFigures() {}

    /** Takes no arguments. */
    public static void main(String[] args) {
        try (ThreadTasks tasks = ThreadTasks.create("figures")) {
            cache(tasks);
        }
        bloom();
        rates();
        Latency latency = new Meters().latency("x");
        print("latency recorded", best(1_000_000, i -> {
            latency.record(i & 0xFFFF);
            return 0;
        }));
    }

    private static void cache(ThreadTasks tasks) {
        int pageCount = 4_096;
        PatternFile pages = new PatternFile(1, pageCount, _ -> PAGE);
        MemoryBudget budget = MemoryBudget.of(1L << 30);
        MemoryBudget.Account account = budget.account("cache");
        try (BufferCache cache = BufferCache.create(account, 256 << 20, tasks, CLOCK)) {
            CachedFile file = cache.register("f", pageCount, pages);
            for (int page = 0; page < pageCount; page++) {
                file.pin(page).unpin();
            }
            print("hit: pin, read 8 bytes, unpin; one page", best(4_000_000, _ -> hit(file, 7)));
            print("the same; 4096 pages at random", best(4_000_000, i -> hit(file, scattered(i))));
            AtomicInteger stop = new AtomicInteger();
            tasks.start("rival", 1_000_000, () -> {
                for (int i = 0; i < 10_000; i++) {
                    SINK.add(hit(file, (i * 31) & 4_095) & 1);
                }
                return stop.get() == 0;
            });
            print(
                    "the same with a second thread at it",
                    best(4_000_000, i -> hit(file, scattered(i))));
            stop.set(1);
        }
        PageLoader nothing = new PageLoader() {
            @Override
            public int pageBytes(int page) {
                return PAGE;
            }

            @Override
            public void load(int page, MemorySegment target) {
                target.set(Bytes.I64, 0, page);
            }
        };
        try (BufferCache cache = BufferCache.create(account, 16 << 20, tasks, CLOCK)) {
            CachedFile file = cache.register("f", pageCount, nothing);
            print(
                    "miss that evicts, without the loading",
                    best(200_000, i -> hit(file, (int) i & 4_095)));
        }
    }

    private static int scattered(long i) {
        return (int) ((i * 0x9E3779B9L) >>> 8) & 4_095;
    }

    private static long hit(CachedFile file, int page) {
        PageFrame frame = file.pin(page);
        long word = frame.segment().get(Bytes.I64, 8L * (page & 1_023));
        frame.unpin();
        return word;
    }

    private static void bloom() {
        try (Arena arena = Arena.ofShared()) {
            for (int keys : new int[] {20_000, 5_000_000}) {
                BloomFilter.Builder builder = BloomFilter.builder(keys, 0.01, arena);
                for (int key = 0; key < keys; key++) {
                    builder.add(mix(key));
                }
                BloomFilter filter = builder.build();
                String what =
                        "Bloom test, %d keys, %d KiB".formatted(keys, filter.byteSize() >> 10);
                print(what + ", absent", best(4_000_000, i -> may(filter, mix(i + keys))));
                print(what + ", present", best(4_000_000, i -> may(filter, mix(i % keys))));
            }
            BloomFilter.Builder builder = BloomFilter.builder(5_000_000, 0.01, arena);
            print(
                    "Bloom add, 5000000 keys",
                    best(1_000_000, i -> builder.add(mix(i)).keyCount()));
            MemorySegment keyBytes = arena.allocate(4_096, 8);
            Slice slice = new Slice();
            for (int length : new int[] {8, 16, 24, 60}) {
                print(
                        "hash of " + length + " bytes",
                        best(
                                4_000_000,
                                i -> BloomFilter.hash(slice.set(keyBytes, i & 1_023, length))));
            }
        }
    }

    private static void rates() {
        int keys = 1_000_000;
        int tests = 10_000_000;
        for (double rate : new double[] {0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 0.0001}) {
            BloomFilter.Builder builder = BloomFilter.builder(keys, rate);
            for (int key = 0; key < keys; key++) {
                builder.add(mix(key));
            }
            BloomFilter filter = builder.build();
            long passed = 0;
            for (long key = keys; key < (long) keys + tests; key++) {
                passed += may(filter, mix(key));
            }
            line("asked %.4f, measured %.6f (%+.1f %%), %.2f bits a key, %d probes"
                    .formatted(
                            rate,
                            (double) passed / tests,
                            100 * ((double) passed / tests / rate - 1),
                            8.0 * filter.byteSize() / keys,
                            filter.probes()));
        }
    }

    private static long may(BloomFilter filter, long hash) {
        return filter.mayContain(hash) ? 1 : 0;
    }

    /** As good as a hash of the number, and cheap. */
    private static long mix(long key) {
        long z = key * 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 32)) * 0xD6E8FEB86659FD93L;
        return z ^ (z >>> 32);
    }

    private static double best(int count, LongUnaryOperator operation) {
        double best = Double.MAX_VALUE;
        for (int first = 0; first < 5 * count; first += ROUND_COUNT) {
            long sum = 0;
            long start = CLOCK.monotonicNanos();
            for (int i = first; i < first + ROUND_COUNT; i++) {
                sum += operation.applyAsLong(i);
            }
            best = Math.min(best, (double) (CLOCK.monotonicNanos() - start) / ROUND_COUNT);
            SINK.add(sum);
        }
        return best;
    }

    private static void print(String what, double nanos) {
        line("%-50s %7.1f ns".formatted(what, nanos));
    }

    @SuppressWarnings("SystemOut") // a program for people
    private static void line(String text) {
        System.out.println(text);
    }
}
