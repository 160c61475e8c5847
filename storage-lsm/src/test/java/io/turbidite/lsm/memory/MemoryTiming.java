package io.turbidite.lsm.memory;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.Found;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Prints what the component's operations cost in CPU time of the threads that do them: {@code
 * MemoryTiming [entries] [value bytes] [key shape] [rounds]}.
 */
final class MemoryTiming {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final int entries;
    private final int valueBytes;
    private final String shape;
    private final TestChunks chunks;
    private final MemorySegment keys;
    private final MemorySegment values;

    /** Key numbers in another order than that of the puts. */
    private final int[] shuffled;

    private MemoryTiming(int entries, int valueBytes, String shape) {
        this.entries = entries;
        this.valueBytes = valueBytes;
        this.shape = shape;
        this.chunks = new TestChunks(1 << 20, false, Integer.MAX_VALUE);
        this.keys = Arena.global().allocate(entries * 8L, 8);
        this.values = Arena.global().allocate(1 << 16, 8);
        this.shuffled = new int[entries];
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < entries; i++) {
            keys.set(Bytes.I64_BE, i * 8L, random.nextLong());
            int other = random.nextInt(i + 1);
            shuffled[i] = shuffled[other];
            shuffled[other] = i;
        }
    }

    private int keyLength() {
        return switch (shape) {
            case "random" -> 8;
            case "tagged", "ascending" -> 9;
            case "user" -> 20;
            case "pair" -> 18;
            default -> throw new IllegalArgumentException(shape);
        };
    }

    /** The {@code i}-th key, written at {@code at} of {@code buffer}. */
    private Slice key(int i, MemorySegment buffer, Slice slice) {
        long random = keys.get(Bytes.I64_BE, i * 8L);
        switch (shape) {
            case "random" -> buffer.set(Bytes.I64_BE, 0, random);
            case "tagged" -> {
                buffer.set(Bytes.U8, 0, (byte) 1);
                buffer.set(Bytes.I64_BE, 1, (i * 7_919L) % entries);
            }
            case "ascending" -> {
                buffer.set(Bytes.U8, 0, (byte) 1);
                buffer.set(Bytes.I64_BE, 1, i);
            }
            case "user" -> {
                buffer.set(Bytes.I64_BE, 0, 0x7573657230303030L);
                long digits = Math.abs(random % 1_000_000_000_000L);
                for (int d = 19; d >= 8; d--) {
                    buffer.set(Bytes.U8, d, (byte) ('0' + digits % 10));
                    digits /= 10;
                }
            }
            default -> {
                // a secondary entry: one of 100,000 users, then the primary key
                buffer.set(Bytes.U8, 0, (byte) 1);
                buffer.set(Bytes.I64_BE, 1, Math.abs(random % 100_000));
                buffer.set(Bytes.U8, 9, (byte) 1);
                buffer.set(Bytes.I64_BE, 10, random);
            }
        }
        return slice.set(buffer, 0, keyLength());
    }

    private interface Work {
        void run(int from, int to);
    }

    /** Runs the work split over threads; nanoseconds of CPU an operation, and bytes allocated. */
    private double[] cpuNanos(int threads, Work work) throws InterruptedException {
        long[] nanos = new long[threads];
        long[] bytes = new long[threads];
        CountDownLatch done = new CountDownLatch(threads);
        long wall = Clock.system().monotonicNanos();
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            for (int t = 0; t < threads; t++) {
                int thread = t;
                pool.execute(() -> {
                    long allocated = THREADS.getCurrentThreadAllocatedBytes();
                    long start = THREADS.getCurrentThreadCpuTime();
                    work.run((int) ((long) entries * thread / threads), (int)
                            ((long) entries * (thread + 1) / threads));
                    nanos[thread] = THREADS.getCurrentThreadCpuTime() - start;
                    bytes[thread] = THREADS.getCurrentThreadAllocatedBytes() - allocated;
                    done.countDown();
                });
            }
            done.await();
        }
        wall = Clock.system().monotonicNanos() - wall;
        long sum = 0;
        long allocated = 0;
        for (int t = 0; t < threads; t++) {
            sum += nanos[t];
            allocated += bytes[t];
        }
        return new double[] {
            (double) sum / entries, (double) wall / entries, (double) allocated / entries
        };
    }

    private void round(int round) throws InterruptedException {
        StringBuilder line = new StringBuilder("%2d %s".formatted(round, shape));
        for (int threads = 1; threads <= 2; threads++) {
            try (MemoryComponent component = MemoryComponent.create(chunks)) {
                double[] put = cpuNanos(threads, (from, to) -> put(component, from, to));
                double[] get =
                        cpuNanos(threads, (from, to) -> get(component, from, to, true, true));
                line.append(
                        "  | %d thr: put %4.0f ns (wall %4.0f, %5.3f B)  get %4.0f (wall %4.0f, %5.3f B)"
                                .formatted(
                                        threads, put[0], put[1], put[2], get[0], get[1], get[2]));
                if (threads == 1) {
                    double[] probe =
                            cpuNanos(1, (from, to) -> get(component, from, to, false, true));
                    double[] ordered =
                            cpuNanos(1, (from, to) -> get(component, from, to, true, false));
                    line.append("  without value %4.0f  in put order %4.0f"
                            .formatted(probe[0], ordered[0]));
                    double[] update = cpuNanos(1, (from, to) -> update(component, from, to));
                    double[] scan = cpuNanos(1, (from, to) -> scan(component));
                    line.append("  upd %4.0f scan %4.0f (%5.3f B) MB %d"
                            .formatted(update[0], scan[0], scan[2], component.bytesUsed() >> 20));
                }
            }
        }
        System.out.println(line);
    }

    private void put(MemoryComponent component, int from, int to) {
        MemorySegment buffer = Arena.ofAuto().allocate(32, 8);
        Slice key = new Slice();
        Slice value = new Slice().set(values, 0, valueBytes);
        for (int i = from; i < to; i++) {
            component.put(key(i, buffer, key), i, false, value);
        }
    }

    private void update(MemoryComponent component, int from, int to) {
        MemorySegment buffer = Arena.ofAuto().allocate(32, 8);
        Slice key = new Slice();
        Slice value = new Slice().set(values, 0, valueBytes);
        for (int i = from; i < to; i++) {
            int j = shuffled[i];
            component.put(key(j, buffer, key), entries + (long) i, false, value);
        }
    }

    private void get(
            MemoryComponent component, int from, int to, boolean wantValue, boolean shuffle) {
        MemorySegment buffer = Arena.ofAuto().allocate(32, 8);
        Slice key = new Slice();
        Found found = new Found(1 << 20);
        for (int i = from; i < to; i++) {
            int j = shuffle ? shuffled[i] : i;
            if (component.find(key(j, buffer, key), Long.MAX_VALUE, found, wantValue)
                    != Found.MATTER) {
                throw new AssertionError("lost key " + j);
            }
        }
    }

    private void scan(MemoryComponent component) {
        long sum = 0;
        try (EntryCursor cursor = component.cursor()) {
            while (cursor.next()) {
                sum += cursor.key().length() + cursor.value().length();
            }
        }
        if (sum == 42) {
            System.out.println();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int entries = args.length > 0 ? Integer.parseInt(args[0]) : 230_000;
        int valueBytes = args.length > 1 ? Integer.parseInt(args[1]) : 500;
        String shapes = args.length > 2 ? args[2] : "random";
        int rounds = args.length > 3 ? Integer.parseInt(args[3]) : 8;
        boolean pollute = args.length > 4;
        if (pollute) {
            pollute();
        }
        for (String shape : shapes.split(",", -1)) {
            MemoryTiming timing = new MemoryTiming(entries, valueBytes, shape);
            for (int round = 0; round < rounds; round++) {
                timing.round(round);
            }
        }
    }

    /** Lets the type profiles see heap segments too, as they will in an application. */
    private static void pollute() {
        MemorySegment heap = MemorySegment.ofArray(new byte[64]);
        MemorySegment longs = MemorySegment.ofArray(new long[8]);
        long sum = 0;
        for (int i = 0; i < 1_000_000; i++) {
            heap.set(Bytes.I64, i & 31, i);
            longs.set(Bytes.I64, i & 31, i);
            heap.set(Bytes.I32, i & 31, i);
            longs.set(Bytes.I32, i & 31, i);
            sum += heap.get(Bytes.I64, i & 15) + longs.get(Bytes.I64, i & 15);
            sum += heap.get(Bytes.I32, i & 15) + longs.get(Bytes.I32, i & 15);
            sum += heap.get(Bytes.I64_BE, i & 15) + longs.get(Bytes.I64_BE, i & 15);
            MemorySegment.copy(heap, i & 7, longs, i & 15, 16);
        }
        System.out.println("polluted " + sum);
    }
}
