package io.turbidite.bench.feed;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.core.log.Durability;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;

/**
 * How long a record takes from the socket of its sender until a reader of the dataset sees it, at
 * half of the rate that the feed can take.
 */
final class VisibleRun {
    private static final long LOOK_NANOS = 200_000;
    private static final long START_NANOS = 20_000_000;
    private static final long LATE_NANOS_MAX = 60_000_000_000L;
    private static final double STEPS_A_SECOND = 1e9 / PacedSender.STEP_NANOS;

    /** Of all packets, which come 200 times a second: the first seconds compile. */
    private static final double WARM_SHARE = 0.25;

    private final int seconds;
    private final FeedTweets tweets;
    private final Path place;
    private final Token.Made token;
    private final String definition = FeedSuite.definition("kind: tcp", 1);

    VisibleRun(int seconds, FeedTweets tweets, Path place, Token.Made token) {
        this.seconds = seconds;
        this.tweets = tweets;
        this.place = place;
        this.token = token;
    }

    /**
     * What was seen.
     *
     * @param recordsASecond of the half load
     * @param samples packets whose last record was watched
     */
    record Figures(
            double recordsASecond,
            int samples,
            double p50Millis,
            double p99Millis,
            double maxMillis) {}

    Figures run() throws IOException {
        fullRate(); // warms up
        double half = fullRate() / 2;
        int size = Math.max(1, (int) (half / STEPS_A_SECOND));
        long[] nanos;
        try (Store store = open();
                TcpFeed feed = TcpFeed.start(store, definition, token);
                PacedSender sender = new PacedSender(feed.address(), token, tweets)) {
            long start = System.nanoTime() + START_NANOS;
            Dataset dataset = store.dataset("Tweets");
            int packets = (int) (seconds * STEPS_A_SECOND);
            FutureTask<long[]> watch = new FutureTask<>(() -> watch(dataset, packets, start));
            Thread.ofPlatform().daemon().name("watcher").start(watch);
            sender.send(packets, size, start);
            nanos = watch.get();
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException(failed);
        }
        long[] warm = Arrays.copyOfRange(nanos, (int) (nanos.length * WARM_SHARE), nanos.length);
        Arrays.sort(warm);
        return new Figures(
                size * STEPS_A_SECOND,
                warm.length,
                warm[warm.length / 2] / 1e6,
                warm[(int) (warm.length * 0.99)] / 1e6,
                warm[warm.length - 1] / 1e6);
    }

    private Store open() throws IOException {
        return Store.open(
                Scratch.empty(place.resolve("visible")),
                StoreOptions.defaults().withDurability(Durability.INTERVAL));
    }

    private double fullRate() throws IOException {
        try (Store store = open();
                TcpFeed feed = TcpFeed.start(store, definition, token)) {
            long start = System.nanoTime();
            Wires.overTcp(feed.address(), token, tweets);
            return tweets.count() / ((System.nanoTime() - start) / 1e9);
        }
    }

    /** The time of each packet, from when it was to go until its last record is there. */
    private static long[] watch(Dataset dataset, int packets, long start) {
        long[] nanos = new long[packets];
        for (int i = 0; i < packets; i++) {
            long due = start + i * PacedSender.STEP_NANOS;
            LockSupport.parkNanos(due - System.nanoTime());
            while (dataset.get(PacedSender.markOf(i)) == null) {
                if (System.nanoTime() - due > LATE_NANOS_MAX) {
                    throw new IllegalStateException("packet %d is not seen".formatted(i));
                }
                LockSupport.parkNanos(LOOK_NANOS);
            }
            nanos[i] = System.nanoTime() - due;
        }
        return nanos;
    }
}
