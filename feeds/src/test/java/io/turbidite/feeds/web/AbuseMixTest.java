package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.tcp.TcpDoor;
import io.turbidite.feeds.web.tcp.TcpOptions;
import io.turbidite.feeds.web.tcp.TcpServer;
import io.turbidite.lsm.Dataset;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * A steady client over sockets, beside one that abuses the server in all ways by turns (R17). Quiet
 * and abused spans alternate, so that what else the machine does meets both.
 */
@Timeout(900)
class AbuseMixTest {
    private static final int SPANS = Tier.count(2, 4, 120);
    private static final long SPAN_MILLIS = Tier.count(200, 500, 5_000);

    /** Of the longest of a hundred requests, with abuse to without. */
    private static final double RATIO_MAX = 3;

    /** So long a request may take however short those of a quiet span are: another had the CPU. */
    private static final double FLOOR_MILLIS = 10;

    @TempDir
    private Path directory;

    private final Token.Made steadyToken =
            Token.make("steady", EnumSet.of(Right.WRITE), List.of("*"), List.of("posts", "lines"));
    private final Token.Made abuserToken = Token.make(
            "abuser", EnumSet.of(Right.WRITE), List.of("*"), List.of("posts_bad", "lines_bad"));

    private static TcpDoor door(String feed) {
        return new TcpDoor(feed, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), false);
    }

    private static FeedManager manager(ServedStore served) {
        return Objects.requireNonNull(served.feeds.get("two"));
    }

    private static int port(TcpServer server, String feed) {
        return Objects.requireNonNull(server.addresses().get(feed), feed).getPort();
    }

    private static void start(ServedStore served, String feed, String kind) {
        manager(served).start("""
        feed: %1$s
        dataset:
          name: Of_%1$s
          type: { id: int64, name: string }
          primaryKey: id
        source: { kind: %2$s }
        parser: { kind: json }
        """.formatted(feed, kind), Path.of(""));
        await(() -> manager(served).list().stream()
                .anyMatch(one -> one.name().equals(feed) && one.state() == FeedState.WAITING));
    }

    private static void await(BooleanSupplier until) {
        // sooner than the server closes by itself what is slow
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!until.getAsBoolean()) {
            assertThat(System.nanoTime()).as("it takes too long").isLessThan(end);
            Thread.onSpinWait();
        }
    }

    private static long gauge(Meters meters, String name) {
        return meters.instruments().stream()
                .filter(one -> one.name().equals(name))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }

    private static long count(ServedStore served, String feed) {
        Dataset dataset = served.store("two").findDataset("Of_" + feed);
        if (dataset == null) {
            return 0;
        }
        long count = 0;
        try (ReadView view = dataset.openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (RecordCursor rows = view.scan(p, KeyRange.all(), FilterPredicate.none())) {
                    while (rows.next()) {
                        count++;
                    }
                }
            }
        }
        return count;
    }

    @Test
    void a_steady_client_is_served_whatever_another_does() throws Exception {
        long seed = Seeds.of("AbuseMixTest");
        System.out.println(Seeds.replay("AbuseMixTest", seed));
        Meters tcpMeters = new Meters(Clock.system());
        Gate gate = Gate.of(List.of(steadyToken.kept(), abuserToken.kept()), false);
        try (ServedStore served = ServedStore.open(directory, HttpOptions.defaults(), gate)) {
            start(served, "posts", "http");
            start(served, "posts_bad", "http");
            start(served, "lines", "tcp");
            start(served, "lines_bad", "tcp");
            try (TcpServer tcp = TcpServer.start(
                    new TcpServer.Parts(
                            TcpOptions.defaults(),
                            Map.of("two", manager(served)),
                            gate,
                            null,
                            tcpMeters),
                    List.of(door("lines"), door("lines_bad")))) {
                int lines = port(tcp, "lines");
                try (SteadyClient steady =
                        new SteadyClient(served.port(), lines, steadyToken.text())) {
                    Abuser abuser = new Abuser(
                            new Random(seed),
                            served.port(),
                            lines,
                            port(tcp, "lines_bad"),
                            abuserToken.text());
                    mix(steady, abuser);
                    // it holds nothing any more, so all that is open is the steady one's
                    await(() -> gauge(served.server.meters(), "http.connections") == 1);
                    await(() -> gauge(tcpMeters, "tcp.connections") == 1);
                    await(() -> served.server.requestCount() == 0);
                    steady.round();
                    assertThat(count(served, "posts")).isEqualTo(steady.postedCount());
                    assertThat(count(served, "lines")).isEqualTo(steady.lineCount());
                    assertThat(count(served, "posts_bad")).isZero();
                    assertThat(count(served, "lines_bad")).isZero();
                    assertThat(abuser.kindsPlayed()).isEqualTo(Abuser.KIND_COUNT);
                }
            }
        }
    }

    private static void mix(SteadyClient steady, Abuser abuser) throws Exception {
        Latencies quiet = new Latencies();
        Latencies abused = new Latencies();
        steady.spend(SPAN_MILLIS, new Latencies()); // the first rounds load classes
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            for (int span = 0; span < SPANS; span++) {
                boolean isQuiet = span % 2 == 0;
                AtomicBoolean stop = new AtomicBoolean(isQuiet);
                Future<?> playing = pool.submit(() -> {
                    abuser.play(stop::get);
                    return true;
                });
                try {
                    steady.spend(SPAN_MILLIS, isQuiet ? quiet : abused);
                } finally {
                    stop.set(true);
                }
                playing.get(60, TimeUnit.SECONDS);
            }
        }
        double without = quiet.millis(0.99);
        double with = abused.millis(0.99);
        System.out.printf(
                "abuse mix: p99 %.2f ms of %d quiet rounds, %.2f ms of %d abused: %.2f times; %s%n",
                without, quiet.count(), with, abused.count(), with / without, abuser);
        if (Tier.isLong()) {
            assertThat(with).isLessThan(Math.max(RATIO_MAX * without, FLOOR_MILLIS));
        }
    }
}
