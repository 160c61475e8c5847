package io.turbidite.bench.engine;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * What this process has used so far: the difference of two readings is the cost of what lay
 * between.
 */
public final class Costs {
    private static final Path IO = Path.of("/proc/self/io");
    private static final Path THREADS = Path.of("/proc/self/task");
    private static final Path STATUS = Path.of("/proc/self/status");

    private Costs() {}

    /** CPU time of the whole process: all threads, native ones and the JVM's too. */
    public static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /**
     * CPU time of the threads that compile Java code; 0 where the system does not tell. Threads
     * that have ended are not counted, so what lay between is only right while none ends.
     */
    public static long compilerNanos() {
        if (!Files.isDirectory(THREADS)) {
            return 0;
        }
        long nanos = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                nanos += compilerNanos(thread);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        return nanos;
    }

    private static long compilerNanos(Path thread) throws IOException {
        try {
            String name = Files.readString(thread.resolve("comm"));
            if (!name.startsWith("C1 ") && !name.startsWith("C2 ")) {
                return 0;
            }
            String times = Files.readString(thread.resolve("schedstat"));
            return Long.parseLong(times.substring(0, times.indexOf(' ')));
        } catch (NoSuchFileException ended) {
            return 0;
        }
    }

    /** Bytes of heap that any thread has allocated. */
    public static long allocatedBytes() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
    }

    /** Bytes handed to write calls, logs included; 0 where the system does not count them. */
    public static long writtenBytes() {
        return number(IO, "wchar:");
    }

    /** The most memory that this process ever had resident; 0 where the system does not tell. */
    public static long residentBytesMax() {
        return number(STATUS, "VmHWM:") << 10;
    }

    /** The number behind {@code name} in a file of one name and number a line. */
    private static long number(Path file, String name) {
        if (!Files.isReadable(file)) {
            return 0;
        }
        try {
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith(name)) {
                    String number = line.substring(name.length()).replace("kB", "");
                    return Long.parseLong(number.strip());
                }
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        return 0;
    }
}
