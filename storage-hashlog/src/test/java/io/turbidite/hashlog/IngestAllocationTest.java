package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;

/** A record leaves no garbage; the log stays near the size of what went in. */
class IngestAllocationTest {
    @Test
    void a_record_costs_no_heap_and_little_log() {
        try (LogBench bench = LogBench.onThreads(null, LogBench.options());
                Arena arena = Arena.ofConfined()) {
            bench.register("id");
            bench.register("type");
            StringBuilder text = new StringBuilder();
            int count = 2_000;
            for (int i = 0; i < count; i++) {
                text.append("{\"id\":%d,\"type\":\"t%d\",\"text\":\"".formatted(i, i % 7))
                        .repeat('x', 700)
                        .append("\"}\n");
            }
            MemorySegment batch = arena.allocate(text.length());
            batch.copyFrom(LogBench.segment(text.toString()));
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            try (IngestSession session = bench.log.openSession("s")) {
                long bytes = Long.MAX_VALUE;
                // vectors are garbage until the compiler came to them, which a busy machine delays
                for (int i = 0; i < 25 || (i < 500 && bytes >= 16L * count); i++) {
                    long before = threads.getCurrentThreadAllocatedBytes();
                    session.ingest(batch, 0, batch.byteSize());
                    bytes = Math.min(bytes, threads.getCurrentThreadAllocatedBytes() - before);
                }
                // page turns publish an action each: some hundred bytes in a million
                assertThat((double) bytes / count).isLessThan(16);
                assertThat(session.rejectedCount()).isZero();
                assertThat((double) session.logBytes() / session.payloadBytes()).isLessThan(1.1);
            }
        }
    }
}
