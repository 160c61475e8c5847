package io.turbidite.feeds.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.DecoderException;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.StandardErrorLogging;
import io.turbidite.feeds.web.access.Gate;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import javax.net.ssl.SSLException;

/** What ends a connection that nobody handled: a fault of the server is told, a reset is not. */
class BrokenConnectionTest {
    @Test
    void a_fault_of_the_server_is_counted_and_a_reset_is_not() {
        Meters meters = new Meters();
        try (HttpServer server = new HttpServer(
                new HttpServer.Parts(
                        HttpOptions.defaults(),
                        List.of(),
                        exchange -> {
                            throw Problem.of(404, "no file");
                        },
                        Gate.of(List.of(), false),
                        List.of(),
                        null,
                        meters,
                        Clock.system()),
                List.of(),
                new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()))) {
            end(server, new IOException("Connection reset by peer"));
            end(server, new DecoderException(new SSLException("no TLS record")));
            assertThat(brokenOf(meters)).isZero();
            end(server, new IllegalStateException("a fault"));
            end(server, new DecoderException(new IllegalArgumentException("another")));
            end(server, new DecoderException("of no cause"));
            assertThat(brokenOf(meters)).isEqualTo(3);
        }
    }

    private static void end(HttpServer server, Throwable cause) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAutoRead(false);
        server.accept(channel);
        channel.pipeline().fireExceptionCaught(cause);
        channel.runPendingTasks();
        assertThat(channel.isOpen()).as("%s", cause).isFalse();
        channel.finishAndReleaseAll();
    }

    private static long brokenOf(Meters meters) {
        return meters.instruments().stream()
                .filter(one -> one.name().equals("http.connections.broken"))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }

    @Test
    @ResourceLock(Resources.SYSTEM_ERR)
    void the_first_of_each_kind_and_place_is_logged_and_all_are_counted() {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        FailureTally tally =
                new FailureTally(new StandardErrorLogging().getLoggerFactory().getLogger("a.Hub"));
        try {
            for (int i = 0; i < 3; i++) {
                tally.note("a sample is left out", new IllegalStateException("round " + i));
                tally.note("a sample is left out", new AssertionError("round " + i));
                tally.note("an event is left out", new IllegalStateException("round " + i));
            }
        } finally {
            System.setErr(before);
        }
        assertThat(bytes.toString(StandardCharsets.UTF_8).lines())
                .containsExactly(
                        "WARN  Hub: a sample is left out; more of this kind are only counted;"
                                + " java.lang.IllegalStateException: round 0",
                        "WARN  Hub: a sample is left out; more of this kind are only counted;"
                                + " java.lang.AssertionError: round 0",
                        "WARN  Hub: an event is left out; more of this kind are only counted;"
                                + " java.lang.IllegalStateException: round 0");
        assertThat(tally.count()).isEqualTo(9);
    }
}
