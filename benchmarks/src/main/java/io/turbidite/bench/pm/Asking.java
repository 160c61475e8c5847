package io.turbidite.bench.pm;

import io.turbidite.bench.engine.Costs;

import java.util.SplittableRandom;
import java.util.function.LongSupplier;

/** Questions for newest records and their answers by the model. <em>Immutable.</em> */
final class Asking {
    /**
     * CPU is counted in hundredths of a second, and code is compiled meanwhile: each figure is of
     * so much at least.
     */
    static final long MEASURED_NANOS = 500_000_000;

    private static final int COMPILED_SHARE = 20;

    static final int SMALL_LIMIT = 10;
    static final int LARGE_LIMIT = 200;

    /** Secondary keys of a range (PERS24 §5.2.3). */
    static final int RANGE_KEYS = 20;

    static final int RANGE_LIMIT = 5;

    private static final long SEED = 10;

    private final int[] keys;
    private final long[] answers;
    private final String what;

    private Asking(String what, int count) {
        this.what = what;
        this.keys = new int[count];
        this.answers = new long[count];
    }

    static Asking newest(Operations operations, int limit, int count) {
        Asking asking = new Asking("limit " + limit, count);
        Draw draw = operations.questions();
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < count; i++) {
            asking.keys[i] = draw.next(random);
            asking.answers[i] = operations.answer(asking.keys[i], limit);
        }
        return asking;
    }

    /** For answers that come in any order. */
    static Asking records(Operations operations, int limit, int count) {
        Asking asking = newest(operations, limit, count);
        for (int i = 0; i < count; i++) {
            asking.answers[i] = operations.sumOf(asking.keys[i], limit);
        }
        return asking;
    }

    static Asking ranges(Operations operations, int count) {
        Asking asking = new Asking("range", count);
        Draw draw = operations.questions();
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < count; i++) {
            int from = Math.clamp(
                    draw.next(random), 0, Math.max(0, operations.keyCount() - RANGE_KEYS));
            asking.keys[i] = from;
            asking.answers[i] = operations.rangeAnswer(
                    from, Math.min(operations.keyCount(), from + RANGE_KEYS), RANGE_LIMIT);
        }
        return asking;
    }

    int count() {
        return keys.length;
    }

    int key(int question) {
        return keys[question];
    }

    /** A way to ask for a key's records. */
    interface Way {
        long answer(int key);
    }

    /**
     * Microseconds of CPU a question.
     *
     * @throws IllegalStateException if an answer is not the model's
     */
    double micros(String who, long nanosMin, Way way) {
        return micros(who, nanosMin, way, Costs::cpuNanos);
    }

    /** The same by the clock. */
    double clockMicros(String who, long nanosMin, Way way) {
        return micros(who, nanosMin, way, System::nanoTime);
    }

    /**
     * Asks until code is compiled: until the compilers took less than a twentieth of the CPU, or
     * {@code rounds} times as much as a figure is of.
     */
    void warmUp(String who, long nanosMin, int rounds, Way way) {
        boolean isCompiled = false;
        for (int i = 0; i < rounds && !isCompiled; i++) {
            long cpu = Costs.cpuNanos();
            long compiled = Costs.compilerNanos();
            double _ = micros(who, nanosMin, way);
            isCompiled =
                    (Costs.compilerNanos() - compiled) * COMPILED_SHARE < Costs.cpuNanos() - cpu;
        }
    }

    private double micros(String who, long nanosMin, Way way, LongSupplier nanos) {
        long before = nanos.getAsLong();
        long passed;
        long asked = 0;
        do {
            askAll(who, way);
            asked += keys.length;
            passed = nanos.getAsLong() - before;
        } while (passed < nanosMin);
        return passed / 1e3 / asked;
    }

    /** Asks all questions once, and compares the answers. */
    void askAll(String who, Way way) {
        for (int i = 0; i < keys.length; i++) {
            check(who, i, way.answer(keys[i]));
        }
    }

    private void check(String who, int question, long answer) {
        if (answer != answers[question]) {
            throw new IllegalStateException("%s, %s: another answer than the model's for key %d"
                    .formatted(who, what, keys[question]));
        }
    }
}
