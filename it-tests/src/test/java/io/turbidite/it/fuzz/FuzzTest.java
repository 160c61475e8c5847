package io.turbidite.it.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

/**
 * R14: each decoder, with inputs that coverage leads to. It throws what is declared, takes no more
 * memory than there is, and no more than a second for one. What was found once is kept as an input
 * in the test resources, in the directory of its decoder, and is tried first ever after.
 */
class FuzzTest {
    private static final int RUNS_LONG = 50_000_000;

    /** The default tier is bounded by its runs; this only ends one that hangs. */
    private static final int SECONDS = Tier.count(0, 120, 300);

    /** C1 alone but in the long tier: a run of 20,000 inputs is over before C2 pays (14 s, 9 s). */
    private static final int COMPILER_LEVEL = Tier.count(1, 1, 4);

    private static final int MEMORY_MEBIBYTES = 512;
    private static final String NO_CHECKSUMS = "io.turbidite.it.fuzz.NoChecksums";
    private static final String JAZZER = "com.code_intelligence.jazzer.Jazzer";

    @ParameterizedTest
    @EnumSource
    @Timeout(900)
    void a_decoder_takes_any_bytes(Decoder decoder, @TempDir Path directory)
            throws IOException, InterruptedException, URISyntaxException {
        Tier.notQuick("fuzzing, a JVM for each decoder,");
        boolean there = isThere();
        if (!there) {
            System.out.println("FuzzTest: no Jazzer on the class path, skipped");
        }
        Assumptions.assumeTrue(there, "no Jazzer");
        Path corpus = Files.createDirectory(directory.resolve("corpus"));
        Path findings = Files.createDirectory(directory.resolve("findings"));
        kept(decoder, corpus);
        Path output = directory.resolve("output.txt");
        Process fuzzer = new ProcessBuilder(
                        command(decoder, classPath(directory), corpus, findings))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        int exit;
        try {
            exit = fuzzer.waitFor();
        } finally {
            fuzzer.toHandle().destroyForcibly();
        }
        String said = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(exit)
                .as(() -> "%s; %s; %s%n%s"
                        .formatted(
                                decoder,
                                Seeds.replay("FuzzTest", Seeds.of("FuzzTest")),
                                inputs(findings),
                                said))
                .isZero();
        System.out.printf("FuzzTest %s: %s%n", decoder, last(said));
    }

    private static boolean isThere() {
        try {
            Class.forName(JAZZER, false, FuzzTest.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static List<String> command(
            Decoder decoder, String classPath, Path corpus, Path findings) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + MEMORY_MEBIBYTES + "m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=" + COMPILER_LEVEL,
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dfuzz.decoder=" + decoder,
                "-Dfuzz.seeds=" + corpus,
                "-cp",
                classPath,
                JAZZER,
                "--target_class=" + Fuzzed.class.getName(),
                "--instrumentation_includes=io.turbidite.core.**:io.turbidite.lsm.**"
                        + ":io.turbidite.hashlog.**:io.turbidite.feeds.**",
                "--instrumentation_excludes=io.turbidite.core.sim.**",
                "--custom_hook_includes=io.turbidite.**",
                "--custom_hooks=" + NO_CHECKSUMS,
                "--reproducer_path=" + findings,
                "-artifact_prefix=" + findings + "/",
                "-seed=" + (Seeds.of("FuzzTest") & 0x7FFF_FFFF),
                "-runs=" + Tier.count(0, decoder.runs(), RUNS_LONG),
                "-max_total_time=" + SECONDS,
                "-max_len=" + (64 << 10),
                "-rss_limit_mb=0",
                "-timeout=60",
                "-print_final_stats=0",
                corpus.toString());
    }

    /**
     * The class path with the hook, which is compiled here: nothing else needs Jazzer to compile.
     */
    private static String classPath(Path directory) throws IOException {
        Path hooks = Files.createDirectory(directory.resolve("hooks"));
        Path source = hooks.resolve("NoChecksums.java");
        try (InputStream in = Objects.requireNonNull(
                FuzzTest.class.getResourceAsStream("NoChecksums.java.txt"), "NoChecksums")) {
            Files.copy(in, source);
        }
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-d", hooks.toString(), source.toString());
        assertThat(failed).isZero();
        return hooks + File.pathSeparator + System.getProperty("java.class.path");
    }

    /** Inputs of the resources; they are few. */
    private static void kept(Decoder decoder, Path corpus) throws IOException, URISyntaxException {
        URL directory = FuzzTest.class.getResource(decoder.name().toLowerCase(Locale.ROOT));
        if (directory == null) {
            return;
        }
        try (Stream<Path> files = Files.list(Path.of(directory.toURI()))) {
            for (Path file : files.toList()) {
                Files.copy(file, corpus.resolve("kept-" + file.getFileName()));
            }
        }
    }

    private static List<String> inputs(Path findings) {
        List<String> inputs = new ArrayList<>();
        try (Stream<Path> files = Files.list(findings)) {
            for (Path file : files.toList()) {
                if (!file.toString().endsWith(".java")) {
                    byte[] bytes = Files.readAllBytes(file);
                    inputs.add(
                            file.getFileName() + " = " + Base64.getEncoder().encodeToString(bytes));
                }
            }
        } catch (IOException e) {
            inputs.add("findings can't be read: " + e);
        }
        return inputs;
    }

    private static String last(String said) {
        return said.lines()
                .filter(line -> line.contains("DONE") || line.startsWith("Done"))
                .reduce((first, second) -> first + "; " + second)
                .orElse("no summary");
    }
}
