package io.turbidite.bench.hashlog;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** One measurement in a JVM that was started without the vector module: it can't be unloaded. */
final class WordsRun {
    /** Enough for the compiler on a busy machine, too: it works beside the measured thread. */
    private static final int WARM_UP_ROUNDS = 10;

    private WordsRun() {}

    /** {@code KIND MEGABYTES DIRECTORY-OR-DASH ROUNDS}; prints a figure for each round. */
    public static void main(String[] args) throws IOException {
        Workload workload = Workload.valueOf(args[0]);
        Corpus corpus = args[2].equals("-")
                ? Corpus.generated(workload, Integer.parseInt(args[1]))
                : Corpus.read(workload, Path.of(args[2]));
        int rounds = Integer.parseInt(args[3]);
        for (int i = -WARM_UP_ROUNDS; i < rounds; i++) {
            try (Bed bed = Bed.inMemory(HashLogSuite.RING_BYTES, workload.definitions)) {
                double figure = bed.ingest(corpus, 1, 1).gigabytesPerCpuSecond();
                if (i >= 0) {
                    System.out.printf(Locale.ROOT, "%.4f%n", figure);
                }
            }
        }
    }

    /** Runs it. */
    static List<Double> start(Workload workload, int megabytes, String directory, int rounds)
            throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        WordsRun.class.getName(),
                        workload.name(),
                        Integer.toString(megabytes),
                        directory,
                        Integer.toString(rounds))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<Double> figures = new ArrayList<>();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                figures.add(Double.valueOf(line));
            }
        }
        if (figures.size() != rounds) {
            throw new IllegalStateException("the JVM without vectors gave %s".formatted(figures));
        }
        return figures;
    }
}
