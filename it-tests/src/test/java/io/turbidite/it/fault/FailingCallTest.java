package io.turbidite.it.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * R8 and R9 with the system's own calls: a library that is loaded before libc fails the nth write
 * or sync of a child's files. Where the log's fails, nothing is acknowledged from then on; whatever
 * fails, what was acknowledged is there when the store is opened without the library.
 */
class FailingCallTest {
    private static final int ROUNDS = Tier.count(3, 12, 300);
    private static final int COMMITS = 400;
    private static final int EIO = 5;
    private static final int ENOSPC = 28;
    private static final int SHORT = 0;

    /**
     * What fails: the call, the files it fails for, how, and whether the store must stop for it.
     */
    private record Failure(String call, String path, int error, boolean stops) {}

    private static final List<Failure> FAILURES = List.of(
            new Failure("sync", "/store/log/", EIO, true),
            new Failure("write", "/store/log/", EIO, true),
            new Failure("write", "/store/log/", SHORT, false),
            new Failure("sync", "/store/data/", EIO, false),
            new Failure("write", "/store/data/", EIO, false),
            new Failure("write", "/store/data/", ENOSPC, false),
            new Failure("write", "/store/data/", SHORT, false),
            new Failure("write", "/store/", ENOSPC, false));

    private final long seed = Seeds.of("FailingCallTest");
    private final SplittableRandom random = new SplittableRandom(seed);

    @Test
    void nothing_is_acknowledged_after_a_failed_call_of_the_log(@TempDir Path directory)
            throws IOException, InterruptedException {
        String refusal = refusal();
        if (refusal != null) {
            System.out.printf("FailingCallTest: skipped: %s%n", refusal);
        }
        Assumptions.assumeTrue(refusal == null, refusal);
        Path library = compile(directory);
        int stopped = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Failure failure = FAILURES.get(round % FAILURES.size());
            Path place = Files.createDirectory(directory.resolve("round" + round));
            stopped += run(library, place, failure, random.nextInt(1, 120), random.nextBoolean())
                    ? 1
                    : 0;
        }
        System.out.printf("FailingCallTest: %d of %d stores stopped%n", stopped, ROUNDS);
        assertThat(stopped).isPositive();
    }

    private boolean run(Path library, Path place, Failure failure, int at, boolean lasts)
            throws IOException, InterruptedException {
        String as = "%s at %d, lasts %b; %s"
                .formatted(failure, at, lasts, Seeds.replay("FailingCallTest", seed));
        Path store = place.resolve("store");
        CutHistory history = new CutHistory(Seeds.mix(seed, at));
        try (Store made = Store.open(store, CutWriter.options())) {
            history.check(made, 0, as);
        }
        long acknowledged;
        boolean refused;
        Map<String, String> environment = Map.of(
                "LD_PRELOAD",
                library.toString(),
                "FAIL_PATH",
                failure.path,
                "FAIL_CALL",
                failure.call,
                "FAIL_AT",
                Integer.toString(at),
                "FAIL_ERROR",
                Integer.toString(failure.error),
                "FAIL_LASTS",
                lasts ? "1" : "0");
        try (CutChild child = CutChild.start(environment)) {
            child.write(store, history, Seeds.mix(seed, at), COMMITS);
            child.awaitClosed();
            acknowledged = child.acknowledged();
            refused = !child.refusals().isEmpty();
        }
        if (failure.stops) {
            assertThat(refused).as(as).isTrue();
        }
        if (failure.error == SHORT && !lasts) {
            assertThat(refused).as("a short write is no failure; " + as).isFalse();
        }
        try (Store opened = Store.open(store, CutWriter.options())) {
            history.check(opened, acknowledged, as);
        }
        return refused;
    }

    private static @Nullable String refusal() throws IOException, InterruptedException {
        if (!System.getProperty("os.name").equals("Linux")) {
            return "not Linux";
        }
        return Shell.has("gcc") ? null : "no gcc";
    }

    private static Path compile(Path directory) throws IOException, InterruptedException {
        Path source = directory.resolve("failing.c");
        try (InputStream in = Objects.requireNonNull(
                FailingCallTest.class.getResourceAsStream("failing.c"), "failing.c")) {
            Files.copy(in, source);
        }
        Path library = directory.resolve("failing.so");
        Shell.must(
                "gcc",
                "-shared",
                "-fPIC",
                "-O1",
                "-o",
                library.toString(),
                source.toString(),
                "-ldl");
        return library;
    }
}
