package io.turbidite.core.time;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Instant;

/** The operating system's clocks. <em>Thread-safe: stateless.</em> */
enum SystemClock implements Clock {
    INSTANCE;

    @Override
    public long wallMicros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }

    @Override
    public long monotonicNanos() {
        return System.nanoTime();
    }

    @Override
    public long threadNanos() {
        // virtual threads have no time of their own, and an application may have it switched off
        if (Thread.currentThread().isVirtual()
                || !Threads.BEAN.isCurrentThreadCpuTimeSupported()
                || !Threads.BEAN.isThreadCpuTimeEnabled()) {
            return monotonicNanos();
        }
        return Threads.BEAN.getCurrentThreadCpuTime();
    }

    /** Loaded by the first who asks: few do. */
    private static final class Threads {
        static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    }
}
