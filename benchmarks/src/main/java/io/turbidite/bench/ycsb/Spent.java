package io.turbidite.bench.ycsb;

import io.turbidite.bench.engine.Costs;

import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * What operations took of this process, and what they answered.
 *
 * @param cpuNanos of all threads
 * @param compilerNanos of those that compile Java code
 * @param heapBytes allocated by all threads
 * @param answer a number made of all answers
 */
record Spent(long cpuNanos, long compilerNanos, long heapBytes, long answer) {
    private static final int PARTS = 4;

    /** Of the operations that {@code work} does, which returns their answer. */
    static Spent of(LongSupplier work) {
        long compiler = Costs.compilerNanos();
        long heap = Costs.allocatedBytes();
        long cpu = Costs.cpuNanos();
        long answer = work.getAsLong();
        return new Spent(
                Costs.cpuNanos() - cpu,
                Costs.compilerNanos() - compiler,
                Costs.allocatedBytes() - heap,
                answer);
    }

    /** One line, that {@link #parse} reads. */
    String line() {
        return String.format(
                Locale.ROOT, "spent %d %d %d %d", cpuNanos, compilerNanos, heapBytes, answer);
    }

    static boolean isLine(String line) {
        return line.startsWith("spent ");
    }

    static Spent parse(String line) {
        String[] parts = line.substring("spent ".length()).split(" ", PARTS);
        return new Spent(
                Long.parseLong(parts[0]),
                Long.parseLong(parts[1]),
                Long.parseLong(parts[2]),
                Long.parseLong(parts[3]));
    }
}
