package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;

/** What a token hears that is for some feeds of a store, or for one store of two. */
@Timeout(60)
class SomeFeedsTest {
    private static final String FEED = """
        feed: %s
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

    private final Token.Made some =
            Token.make("some", EnumSet.allOf(Right.class), List.of("one"), List.of("same"));

    private final Token.Made stray =
            Token.make("stray", EnumSet.allOf(Right.class), List.of("tow"), List.of("payrol"));

    private final Token.Made typist =
            Token.make("typist", EnumSet.allOf(Right.class), List.of("one"), List.of("payrol"));

    private ServedStore serve() throws Exception {
        ServedStore served = ServedStore.open(
                directory,
                HttpOptions.defaults(),
                Gate.of(List.of(manager.kept(), some.kept(), stray.kept(), typist.kept()), false));
        put(served, "same", "one");
        put(served, "payroll", "one");
        put(served, "same", "two");
        return served;
    }

    private void put(ServedStore served, String feed, String store) throws Exception {
        String path = "/v1/feeds/%s?store=%s".formatted(feed, store);
        assertThat(send(served, manager, "PUT", path, FEED.formatted(feed)).statusCode())
                .isEqualTo(200);
    }

    private static HttpResponse<String> send(
            ServedStore served, Token.Made by, String method, String path, String body)
            throws Exception {
        return served.send(served.request(path)
                .header("Authorization", "Bearer " + by.text())
                .method(method, BodyPublishers.ofString(body))
                .build());
    }

    private static HttpResponse<String> sql(ServedStore served, Token.Made by, String statement)
            throws Exception {
        return send(
                served,
                by,
                "POST",
                "/v1/stores/one/sql",
                "{\"statement\":\"%s\"}".formatted(statement));
    }

    private static void refuses(HttpResponse<String> answer, String dataset) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(403);
        assertThat(answer.body())
                .contains(dataset + " tells of every feed")
                .doesNotContain("payroll");
    }

    /** The bug: it read the definition of every feed, and the names of who sends to them. */
    @Test
    void what_tells_of_every_feed_is_read_with_a_token_for_every_feed() throws Exception {
        try (ServedStore served = serve()) {
            for (String statement : List.of(
                    "select * from _definitions",
                    "select * from _definitions d",
                    "select count(*) as n from \\\"_definitions\\\"",
                    "select t.id from T t join _definitions d on d.feed = t.text",
                    "select id from T where text in (select feed from _definitions)",
                    "with d as (select * from _definitions) select * from d",
                    "select text from T union all select feed from _definitions",
                    "explain select * from _definitions",
                    "insert into T (id, n, text) select 1, 1, feed from _definitions",
                    "delete from _definitions",
                    "drop dataset _definitions")) {
                refuses(sql(served, some, statement), "_definitions");
            }
            refuses(sql(served, some, "select * from _feeds"), "_feeds");
            for (String dataset : List.of("_definitions", "_feeds")) {
                refuses(
                        send(
                                served,
                                some,
                                "POST",
                                "/v1/stores/one/query",
                                "{\"dataset\":\"%s\"}".formatted(dataset)),
                        dataset);
                refuses(
                        send(
                                served,
                                some,
                                "GET",
                                "/v1/stores/one/datasets/%s/records/same".formatted(dataset),
                                ""),
                        dataset);
            }
            assertThat(sql(served, some, "select count(*) as n from T").statusCode())
                    .isEqualTo(200);
            HttpResponse<String> all = sql(served, manager, "select * from _definitions");
            assertThat(all.statusCode()).as(all.body()).isEqualTo(200);
            assertThat(all.body()).contains("payroll");
        }
    }

    /** The bug: "is 'payroll' meant?", and "stores are one, two". */
    @Test
    void nobody_is_told_names_that_they_may_not_see() throws Exception {
        try (ServedStore served = serve()) {
            HttpResponse<String> feed = send(served, typist, "GET", "/v1/feeds/payrol", "");
            assertThat(feed.statusCode()).isEqualTo(404);
            assertThat(feed.body()).doesNotContain("payroll");
            assertThat(send(served, manager, "GET", "/v1/feeds/payrol", "").body())
                    .contains("'payroll'");

            HttpResponse<String> store = send(served, stray, "GET", "/v1/stores/tow", "");
            assertThat(store.statusCode()).isEqualTo(404);
            assertThat(store.body()).doesNotContain("one", "two");
            assertThat(send(served, manager, "GET", "/v1/stores/tow", "").body())
                    .contains("one, two");

            HttpResponse<String> which =
                    send(served, stray, "PUT", "/v1/feeds/payrol", FEED.formatted("payrol"));
            assertThat(which.statusCode()).isEqualTo(400);
            assertThat(which.body()).contains("say which store").doesNotContain("[one", "two");
            assertThat(send(served, manager, "PUT", "/v1/feeds/same", FEED.formatted("same"))
                            .body())
                    .contains("[one, two]");
        }
    }

    /** The bug: the second store's feed was left out. */
    @Test
    void samples_tell_feeds_of_one_name_of_both_stores() throws Exception {
        try (ServedStore served = serve()) {
            HttpResponse<InputStream> stream = served.client()
                    .send(
                            served.request("/v1/events")
                                    .header("Authorization", "Bearer " + manager.text())
                                    .build(),
                            BodyHandlers.ofInputStream());
            try (BufferedReader lines = new BufferedReader(
                    new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
                String line = lines.readLine();
                while (!line.startsWith("data: {\"at\"")) {
                    line = lines.readLine();
                }
                JsonNode feeds =
                        ServedStore.json(line.substring("data: ".length())).path("feeds");
                assertThat(feeds.findValuesAsText("feed"))
                        .containsExactly("payroll", "same", "same");
                for (Map.Entry<String, JsonNode> one : feeds.properties()) {
                    assertThat(one.getKey())
                            .isEqualTo(one.getValue().path("store").asText() + "/"
                                    + one.getValue().path("feed").asText());
                }
            }
        }
    }
}
