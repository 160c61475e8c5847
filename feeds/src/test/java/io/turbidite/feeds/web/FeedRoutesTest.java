package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.ParcelSource;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.source.parcel.Ticket;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;

/** Feeds that clients define, and one that can take no more. */
@Timeout(60)
class FeedRoutesTest {
    private static final String FEED = """
        feed: sent
        dataset:
          name: Sent
          type: { id: int64 }
          primaryKey: id
        source: { kind: http }
        parser: { kind: json }
        """;

    @TempDir
    private Path directory;

    private final Token.Made manager =
            Token.make("manager", EnumSet.allOf(Right.class), List.of("*"), List.of("*"));

    private ServedStore serve() throws Exception {
        return ServedStore.open(
                directory, HttpOptions.defaults(), Gate.of(List.of(manager.kept()), false));
    }

    private HttpResponse<String> send(ServedStore served, String method, String body)
            throws Exception {
        return served.send(served.request("/v1/feeds/sent?store=two")
                .header("Authorization", "Bearer " + manager.text())
                .method(method, BodyPublishers.ofString(body))
                .build());
    }

    /** The bug: all problems were one line, with a blank between them, and the rest twice. */
    @Test
    void each_problem_of_a_definition_has_a_line() throws Exception {
        try (ServedStore served = serve()) {
            HttpResponse<String> wrong = send(served, "PUT", FEED + "sauce: 1\nspice: 2\n");
            assertThat(wrong.statusCode()).isEqualTo(400);
            JsonNode problem = ServedStore.json(wrong.body());
            List<String> lines = problem.path("detail").asText().lines().toList();
            assertThat(lines).as(wrong.body()).hasSize(2);
            assertThat(lines.getFirst()).startsWith("definition:8: sauce ");
            assertThat(lines.getLast()).startsWith("definition:9: spice ");
            assertThat(problem.has("advice")).as(wrong.body()).isFalse();
        }
    }

    /** Both are in the state "ended". */
    @Test
    void a_feed_that_was_stopped_is_told_from_one_that_runs() throws Exception {
        try (ServedStore served = serve()) {
            assertThat(send(served, "PUT", FEED).statusCode()).isEqualTo(200);
            assertThat(ServedStore.json(send(served, "GET", "").body()).at("/stopped"))
                    .hasToString("false");
            Objects.requireNonNull(served.feeds.get("two")).stop("sent");
            JsonNode stopped = ServedStore.json(send(served, "GET", "").body());
            assertThat(stopped.at("/state").asText()).isEqualTo("ended");
            assertThat(stopped.at("/stopped")).hasToString("true");
        }
    }

    @Test
    void a_feed_that_is_full_says_when_to_come_again() throws Exception {
        try (ServedStore served = serve()) {
            String slow = FEED + "policy: { kind: throttle, recordsPerSecond: 1 }\n";
            assertThat(send(served, "PUT", slow).statusCode()).isEqualTo(200);
            FeedManager feeds = Objects.requireNonNull(served.feeds.get("two"));
            byte[] many = "{\"id\":1}\n".repeat(1_000).getBytes(StandardCharsets.UTF_8);
            int waiting = 0;
            while (true) {
                Ticket ticket = feeds.offer("sent", Parcel.of(List.of(many), many.length));
                if (!ticket.isSettled()) {
                    waiting++;
                } else if (ticket.receipt() instanceof Receipt.Full) {
                    break;
                } else { // it is starting
                    Thread.sleep(1);
                }
            }
            assertThat(waiting).isGreaterThanOrEqualTo(ParcelSource.PARCEL_COUNT_MAX);
            HttpResponse<String> full = send(served, "POST", "{\"id\":2}\n");
            assertThat(full.statusCode()).as(full.body()).isEqualTo(429);
            assertThat(full.headers().firstValue("retry-after")).contains("1");
            assertThat(ServedStore.json(full.body()).path("detail").asText())
                    .contains("wait for the feed, as many as may");
        }
    }
}
