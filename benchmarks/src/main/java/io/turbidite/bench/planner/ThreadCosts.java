package io.turbidite.bench.planner;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time of this thread, which counts nanoseconds where that of a process counts hundredths. */
final class ThreadCosts {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private ThreadCosts() {}

    static long nanos() {
        return THREADS.getCurrentThreadCpuTime();
    }
}
