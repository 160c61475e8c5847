package io.turbidite.it.fuzz;

import io.turbidite.core.StorageException;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What Jazzer calls; {@code -Dfuzz.decoder} names the decoder, {@code -Dfuzz.seeds} the directory
 * that it begins with. An input that takes more than a second of this thread's CPU is a finding: a
 * busy machine makes none.
 */
public final class Fuzzed {
    private static final long CPU_NANOS_MAX = 1_000_000_000;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Decoder.Run RUN =
            Decoder.valueOf(System.getProperty("fuzz.decoder")).make();

    private Fuzzed() {}

    public static void fuzzerInitialize() throws IOException {
        int number = 0;
        int soundCount = 0;
        for (byte[] seed : RUN.seeds()) {
            Path directory = Path.of(System.getProperty("fuzz.seeds"));
            Files.write(directory.resolve("seed" + number), seed);
            try {
                RUN.decode(seed);
                soundCount++;
            } catch (StorageException told) {
                System.err.printf("seed %d is refused: %s%n", number, told);
            }
            number++;
        }
        if (soundCount == 0) {
            throw new IllegalStateException("no seed is sound");
        }
    }

    public static void fuzzerTestOneInput(byte[] input) {
        long begin = THREADS.getCurrentThreadCpuTime();
        try {
            RUN.decode(input);
        } catch (StorageException told) {
            // the one kind of answer that damage may get
        }
        long nanos = THREADS.getCurrentThreadCpuTime() - begin;
        if (nanos > CPU_NANOS_MAX) {
            throw new IllegalStateException(
                    "%d bytes took %d ms".formatted(input.length, nanos / 1_000_000));
        }
    }
}
