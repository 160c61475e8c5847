package io.turbidite.bench.engine;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** What this process has used so far: the difference of two readings is the cost of what lay between. */
final class Costs {
    private static final Path IO = Path.of("/proc/self/io");

    private Costs() {}

    /** CPU time of the whole process: all threads, native ones and the JVM's too. */
    static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** Bytes of heap that any thread has allocated. */
    static long allocatedBytes() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
    }

    /** Bytes handed to write calls, logs included; 0 where the system does not count them. */
    static long writtenBytes() {
        if (!Files.isReadable(IO)) {
            return 0;
        }
        try {
            for (String line : Files.readAllLines(IO)) {
                if (line.startsWith("wchar: ")) {
                    return Long.parseLong(line.substring("wchar: ".length()));
                }
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        return 0;
    }
}
