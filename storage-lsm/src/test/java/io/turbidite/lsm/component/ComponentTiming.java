package io.turbidite.lsm.component;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.Found;

import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Prints what a component costs: CPU time of the thread, which a shared machine disturbs least, and
 * bytes allocated, each for one operation. Not a test:
 * {@code java … ComponentTiming DIRECTORY [entryCount]}.
 *
 * <p>Keys are as an encoded int64 (a tag and eight random bytes), values 500 bytes, everything in
 * the cache. The last of several rounds counts.
 */
final class ComponentTiming {
    private static final int VALUE_BYTES = 500;
    private static final int ROUNDS = 6;

    private final ThreadMXBean thread = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final PrintStream out = System.out;
    private final Disk disk;
    private final long[] numbers;
    private final MemorySegment keys;
    private long sum;

    private ComponentTiming(Disk disk, int entryCount) {
        this.disk = disk;
        SplittableRandom random = new SplittableRandom(1);
        // even numbers are there, odd ones are absent
        this.numbers = random.longs(entryCount + entryCount / 8L)
                .map(number -> number & ~1L)
                .map(number -> number ^ Long.MIN_VALUE)
                .sorted()
                .distinct()
                .limit(entryCount)
                .map(number -> number ^ Long.MIN_VALUE)
                .toArray();
        this.keys = Arena.global().allocate(9L * numbers.length, 8);
        for (int i = 0; i < numbers.length; i++) {
            keys.set(Bytes.U8, 9L * i, (byte) 5);
            keys.set(Bytes.I64_BE, 9L * i + 1, numbers[i]);
        }
    }

    public static void main(String[] arguments) {
        int entryCount = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 230_000;
        Disk disk = RealDisk.open(Path.of(arguments[0]));
        ComponentTiming timing = new ComponentTiming(disk, entryCount);
        for (ComponentOptions options : new ComponentOptions[] {
            ComponentOptions.primary(), ComponentOptions.primary().withCompression(Compression.LZ4)
        }) {
            timing.run(options);
        }
    }

    private void run(ComponentOptions options) {
        out.printf("%n%d entries of %d bytes, %s%n", numbers.length, VALUE_BYTES + 9, options);
        for (int round = 0; round < ROUNDS; round++) {
            if (disk.exists(Components.NAME)) {
                disk.delete(Components.NAME);
            }
            boolean print = round == ROUNDS - 1;
            write(options, print);
            try (BufferCache cache = Components.cache(64L << 20 | 700L * numbers.length);
                    DiskComponent component = Components.open(disk, cache)) {
                read(component, print);
            }
        }
        disk.delete(Components.NAME);
    }

    private void write(ComponentOptions options, boolean print) {
        Slice key = new Slice();
        Slice value = new Slice();
        MemorySegment values = Arena.ofAuto().allocate(VALUE_BYTES + 4096L, 8);
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < values.byteSize(); i++) {
            values.set(Bytes.U8, i, (byte) (i % 2 == 0 ? 'v' : random.nextInt()));
        }
        long before = thread.getCurrentThreadCpuTime();
        long allocated = thread.getCurrentThreadAllocatedBytes();
        try (ComponentWriter writer = ComponentWriter.create(
                disk, Components.NAME, Components.HEADER, options, numbers.length)) {
            for (int i = 0; i < numbers.length; i++) {
                key.set(keys, 9L * i, 9);
                value.set(values, i & 4095, VALUE_BYTES);
                writer.add(key, 1_000_000L + i * 7919L % numbers.length, false, value);
            }
            writer.finish(new ComponentId(1, 10_000_000_000L), ComponentFilter.none(), 0, 0);
        }
        print(print, "write, sync included", numbers.length, before, allocated);
    }

    private void read(DiskComponent component, boolean print) {
        if (print) {
            out.printf(
                    "%.1f MB in the file, %.2f MB resident%n",
                    component.bytes() / 1e6, component.residentBytes() / 1e6);
        }
        scan(component.cursor(), false, "scan cold: key and timestamp", print);
        scan(component.cursor(), false, "scan: key and timestamp", print);
        scan(component.cursor(), true, "scan: key, timestamp, every value byte", print);
        scan(component.keyCursor(), false, "scan of the key tree", print);
        scan(component.streamCursor(), true, "stream: key, timestamp, every value byte", print);
        int[] order = new SplittableRandom(3).ints(200_000, 0, numbers.length).toArray();
        find(component, order, 0, true, "find, hit, value copied", print);
        find(component, order, 0, false, "find, hit", print);
        find(component, order, 1, false, "find, miss", print);
        findKey(component, order, 0, "find in the key tree, hit", print);
        findKey(component, order, 1, "find in the key tree, miss", print);
        bloom(component, order, print);
        for (int step : new int[] {1, 10, 100}) {
            points(component.pointCursor(), step, "stateful find, every " + step + ".", print);
            points(
                    component.keyPointCursor(),
                    step,
                    "stateful find in the key tree, every " + step + ".",
                    print);
        }
        int[] ascending = order.clone();
        Arrays.sort(ascending);
        find(component, ascending, 0, false, "find, hit, ascending, not stateful", print);
    }

    private void scan(TreeCursor cursor, boolean values, String what, boolean print) {
        long before = thread.getCurrentThreadCpuTime();
        long allocated = thread.getCurrentThreadAllocatedBytes();
        int count = 0;
        try (cursor) {
            while (cursor.next()) {
                Slice key = cursor.key();
                sum += key.segment().get(Bytes.I64, key.offset()) + cursor.timestamp();
                if (values) {
                    Slice value = cursor.value();
                    for (int i = 0; i + 8 <= value.length(); i += 8) {
                        sum += value.segment().get(Bytes.I64, value.offset() + i);
                    }
                }
                count++;
            }
        }
        check(count, numbers.length);
        print(print, what, count, before, allocated);
    }

    private void find(
            DiskComponent component,
            int[] order,
            int change,
            boolean value,
            String what,
            boolean print) {
        Found found = new Found(1 << 20);
        MemorySegment bytes = Arena.ofAuto().allocate(16, 8);
        Slice key = new Slice().set(bytes, 0, 9);
        bytes.set(Bytes.U8, 0, (byte) 5);
        int hits = 0;
        long before = thread.getCurrentThreadCpuTime();
        long allocated = thread.getCurrentThreadAllocatedBytes();
        for (int i : order) {
            bytes.set(Bytes.I64_BE, 1, numbers[i] + change);
            if (component.find(key, Long.MAX_VALUE, found, value) == Found.MATTER) {
                hits++;
            }
        }
        print(print, what, order.length, before, allocated);
        check(hits, change == 0 ? order.length : 0);
    }

    private void findKey(
            DiskComponent component, int[] order, int change, String what, boolean print) {
        Found found = new Found(1 << 20);
        MemorySegment bytes = Arena.ofAuto().allocate(16, 8);
        Slice key = new Slice().set(bytes, 0, 9);
        bytes.set(Bytes.U8, 0, (byte) 5);
        int hits = 0;
        long before = thread.getCurrentThreadCpuTime();
        long allocated = thread.getCurrentThreadAllocatedBytes();
        for (int i : order) {
            bytes.set(Bytes.I64_BE, 1, numbers[i] + change);
            if (component.findKey(key, Long.MAX_VALUE, found) == Found.MATTER) {
                hits++;
            }
        }
        print(print, what, order.length, before, allocated);
        check(hits, change == 0 ? order.length : 0);
    }

    private void bloom(DiskComponent component, int[] order, boolean print) {
        MemorySegment bytes = Arena.ofAuto().allocate(16, 8);
        Slice key = new Slice().set(bytes, 0, 9);
        bytes.set(Bytes.U8, 0, (byte) 5);
        int passed = 0;
        long before = thread.getCurrentThreadCpuTime();
        long allocated = thread.getCurrentThreadAllocatedBytes();
        for (int i : order) {
            bytes.set(Bytes.I64_BE, 1, numbers[i] + 1);
            if (component.mayContain(BloomFilter.hash(key))) {
                passed++;
            }
        }
        String rate = String.format(Locale.ROOT, "%.2f %%", 100.0 * passed / order.length);
        print(
                print,
                "Bloom filter, absent keys, hash included; passed " + rate,
                order.length,
                before,
                allocated);
    }

    private void points(PointCursor cursor, int step, String what, boolean print) {
        Found found = new Found(1 << 20);
        Slice key = new Slice();
        int count = 0;
        int hits = 0;
        long before = thread.getCurrentThreadCpuTime();
        long allocated = thread.getCurrentThreadAllocatedBytes();
        try (cursor) {
            for (int i = 0; i < numbers.length; i += step) {
                key.set(keys, 9L * i, 9);
                if (cursor.find(key, Long.MAX_VALUE, found, false) == Found.MATTER) {
                    hits++;
                }
                count++;
            }
        }
        print(print, what, count, before, allocated);
        check(hits, count);
    }

    private void print(boolean print, String what, int count, long before, long allocated) {
        long nanos = thread.getCurrentThreadCpuTime() - before;
        long bytes = thread.getCurrentThreadAllocatedBytes() - allocated;
        if (print) {
            out.printf(
                    Locale.ROOT,
                    "%-60s %8.1f ns %10.2f M/s %8.0f MB/s %7.2f B allocated%n",
                    what,
                    (double) nanos / count,
                    count * 1e3 / nanos,
                    count * 1e3 * (VALUE_BYTES + 9) / nanos,
                    (double) bytes / count);
        }
    }

    private void check(int found, int expected) {
        if (found != expected || sum == 42) {
            throw new AssertionError(found + " instead of " + expected);
        }
    }
}
