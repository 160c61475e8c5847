package io.turbidite.it.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.source.parcel.ParcelSource;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A burst of ten times what the store takes, before each policy of a feed, at a heap of 256 MiB
 * (R16); its end is the end of the process. Memory suffices, what was acknowledged is in the
 * dataset when the next process has read what the policy left, and each policy does what it says.
 */
@Timeout(900)
class BurstTest {
    private static final int SECONDS = Tier.count(2, 3, 60);

    /**
     * So much more than the store takes is answered, where senders do not wait for it: the child
     * waits for that, and for the rest of the answers.
     */
    private static final int TIMES = 3;

    private static final long MIB = 1 << 20;

    /** 64 parcels of the source, eight batches, and what a store and a feed are without them. */
    private static final long HEAP_MAX = 64 * MIB;

    @TempDir
    private Path directory;

    /** What a child has told. */
    private record Burst(Map<String, Long> figures) {
        long of(String name) {
            return Objects.requireNonNull(figures.get(name), name);
        }

        /** Records whose senders were answered. */
        long acknowledged() {
            return of("accepted") + of("dropped");
        }

        /**
         * What the store could take of one parse worker: a batch a sync. Time says less, on a
         * machine that has other work.
         */
        long takenOfOne() {
            return of("syncs") * BurstWriter.BATCH_RECORDS;
        }

        void didNotWait(int times) {
            assertThat(acknowledged())
                    .as("answered, of senders that do not wait for the store: %s", figures)
                    .isGreaterThan(times * takenOfOne() * 3 / 4);
        }
    }

    /** @param timesAnswered how many times what the store can take is to be answered */
    private Burst burst(String policy, int timesAnswered) throws IOException, InterruptedException {
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
                        store().toString(),
                        policy,
                        Integer.toString(SECONDS),
                        Integer.toString(timesAnswered)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String out = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(child.exitValue()).as(out).isZero();
        System.out.println(policy + ": " + out.strip().replaceAll("\\R", ", "));
        Map<String, Long> figures = new HashMap<>();
        out.lines().forEach(line -> {
            int blank = line.indexOf(' ');
            figures.put(line.substring(0, blank), Long.parseLong(line.substring(blank + 1)));
        });
        Burst burst = new Burst(figures);
        assertThat(burst.of("usedMax"))
                .as("memory of the budget")
                .isBetween(1L, burst.of("budget"));
        assertThat(burst.of("budget")).as("the budget").isLessThanOrEqualTo(96 * MIB);
        assertThat(burst.of("heap")).as("live heap").isLessThanOrEqualTo(HEAP_MAX);
        assertThat(burst.of("onWayMax"))
                .as("parcels without an answer")
                .isLessThanOrEqualTo(ParcelSource.PARCEL_COUNT_MAX);
        return burst;
    }

    private Path store() {
        return directory.resolve("store");
    }

    /** Counts those of the records sent that are there. */
    private static long countThere(Store store, long sent) {
        Dataset dataset = store.dataset("Burst");
        long there = 0;
        for (long id = 0; id < sent; id++) {
            there += dataset.get(id) == null ? 0 : 1;
        }
        return there;
    }

    private long countThere(long sent) {
        try (Store store = Store.openExisting(store(), BurstWriter.options())) {
            return countThere(store, sent);
        }
    }

    /** The sender waited for the store: it took what one worker takes, and no more was kept. */
    private void waits(Burst burst, int workers) {
        assertThat(burst.of("refused")).as("told to wait").isPositive();
        assertThat(burst.of("dropped") + burst.of("feed.dropped")).isZero();
        assertThat(burst.of("accepted"))
                .as("what the store took")
                .isBetween(1L, (workers * burst.takenOfOne()) + BurstWriter.BATCH_RECORDS);
        assertThat(countThere(burst.of("sent")))
                .as("records that are there")
                .isBetween(burst.of("accepted"), burst.of("sent"));
    }

    @Test
    void basic_has_the_sender_wait() throws IOException, InterruptedException {
        waits(burst("{ kind: basic }", 0), 1);
    }

    @Test
    void elastic_has_the_sender_wait_for_its_workers() throws IOException, InterruptedException {
        Burst burst = burst("{ kind: elastic, workersMin: 1, workersMax: 3 }", 0);
        waits(burst, 3);
        assertThat(burst.of("workersMax")).isBetween(1L, 3L);
    }

    @Test
    void discard_takes_the_burst_and_leaves_out_no_more_than_its_share()
            throws IOException, InterruptedException {
        Burst burst = burst("{ kind: discard, percentMax: 70 }", 2);
        burst.didNotWait(2);
        assertThat(100 * burst.of("dropped"))
                .as("left out of %d records", burst.of("sent"))
                .isLessThanOrEqualTo(70 * burst.of("sent"));
        isCounted(burst);
    }

    /** Each sender was told what became of its records, and it is so. */
    private void isCounted(Burst burst) {
        assertThat(burst.acknowledged()).isEqualTo(burst.of("sent"));
        assertThat(burst.of("feed.dropped")).isEqualTo(burst.of("dropped"));
        assertThat(burst.of("feed.records")).isEqualTo(burst.of("accepted"));
        assertThat(countThere(burst.of("sent"))).isEqualTo(burst.of("accepted"));
    }

    @Test
    void throttle_takes_the_burst_and_keeps_its_rate() throws IOException, InterruptedException {
        int rate = BurstWriter.STORE_RATE / 2;
        Burst burst = burst("{ kind: throttle, recordsPerSecond: %d }".formatted(rate), TIMES);
        burst.didNotWait(TIMES);
        long rateMax = rate * (burst.of("millis") / 1_000 + 2);
        assertThat(burst.of("feed.records")).as("%d a second", rate).isBetween(rate / 2L, rateMax);
        isCounted(burst);
    }

    @Test
    void spill_takes_the_burst_and_hands_it_on_in_sequence()
            throws IOException, InterruptedException {
        Burst burst = burst("{ kind: spill, bytesMax: 2GiB }", TIMES);
        burst.didNotWait(TIMES);
        assertThat(burst.of("dropped")).isZero();
        assertThat(spilledBytes()).isPositive();
        try (Store store = Store.openExisting(store(), BurstWriter.options());
                FeedManager feeds = FeedManager.open(store)) {
            feeds.startKept();
            while (spilledBytes() > 0) {
                assertThat(feeds.status("burst").cause()).isNull();
                isPrefix(store.dataset("Burst"), burst.of("accepted"));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            }
            assertThat(countThere(store, burst.of("accepted"))).isEqualTo(burst.of("accepted"));
        }
    }

    /** Where a record is there, so are those before it, which are looked for later. */
    private static void isPrefix(Dataset dataset, long count) {
        boolean isThere = false;
        for (long id = count - 1; id >= 0; id -= Math.max(1, count / 100)) {
            boolean was = isThere;
            isThere = dataset.get(id) != null;
            assertThat(isThere).as("record %d before one that is there", id).isIn(true, was);
        }
    }

    private long spilledBytes() throws IOException {
        Path spill = store().resolve("feed-spill").resolve("burst");
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
