package io.turbidite.it.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A burst of far more than the store takes, at a heap of 256 MiB (R16), whose end is the end of the
 * process: memory suffices, and what was acknowledged is in the dataset when the next process has
 * emptied the spill.
 */
class BurstTest {
    private static final Pattern COUNTS = Pattern.compile("stored (\\d+)\nacknowledged (\\d+)\n");

    @TempDir
    private Path directory;

    @Test
    @Timeout(300)
    void a_burst_that_is_spilled_needs_little_memory_and_nothing_of_it_is_lost()
            throws IOException, InterruptedException {
        Path place = directory.resolve("store");
        String seconds = Integer.toString(Tier.count(3, 5, 60));
        Process child = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:MaxDirectMemorySize=64m",
                        "-XX:+ExitOnOutOfMemoryError",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-modules=jdk.incubator.vector",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BurstWriter.class.getName(),
                        place.toString(),
                        seconds))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String out = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(child.exitValue()).as(out).isZero();
        Matcher counts = COUNTS.matcher(out.replace("\r", ""));
        assertThat(counts.find()).as(out).isTrue();
        long stored = Long.parseLong(counts.group(1));
        long acknowledged = Long.parseLong(counts.group(2));
        assertThat(acknowledged)
                .as("the burst did not wait for the store")
                .isGreaterThan(2 * stored);
        assertThat(spilledBytes(place)).isPositive().isLessThanOrEqualTo(256 << 20);
        try (Store store = Store.openExisting(place, BurstWriter.options());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.startKept();
            while (spilledBytes(place) > 0) {
                assertThat(feeds.status("burst").cause()).isNull();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
            Dataset dataset = store.dataset("Burst");
            for (long id = 0; id < acknowledged; id++) {
                assertThat(dataset.get(id) == null).as("record %d", id).isFalse();
            }
        }
    }

    private static long spilledBytes(Path place) throws IOException {
        Path spill = place.resolve("feed-spill").resolve("burst");
        if (!Files.exists(spill)) {
            return 0;
        }
        long bytes = 0;
        try (Stream<Path> files = Files.list(spill)) {
            for (Path file :
                    files.filter(one -> one.toString().endsWith(".spill")).toList()) {
                bytes += file.toFile().length(); // 0 of one that is gone meanwhile
            }
        }
        return bytes;
    }
}
