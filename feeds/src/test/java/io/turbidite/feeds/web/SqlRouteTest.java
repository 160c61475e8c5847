package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;

/** What the route of statements says of places, and of changes that fail. */
@Timeout(60)
class SqlRouteTest {
    @TempDir
    private Path directory;

    private final Token.Made writer =
            Token.make("writer", EnumSet.of(Right.READ, Right.WRITE), List.of("*"), List.of("*"));

    private ServedStore serve() throws Exception {
        return ServedStore.open(
                directory, HttpOptions.defaults(), Gate.of(List.of(writer.kept()), false));
    }

    private HttpResponse<String> ask(ServedStore served, String body) throws Exception {
        return served.send(served.request("/v1/stores/one/sql")
                .header("Authorization", "Bearer " + writer.text())
                .POST(BodyPublishers.ofString(body))
                .build());
    }

    @Test
    void an_explained_statement_keeps_its_places() throws Exception {
        try (ServedStore served = serve()) {
            HttpResponse<String> wrong =
                    ask(served, "{\"statement\":\"select nosuch from T\",\"explain\":true}");
            assertThat(wrong.statusCode()).isEqualTo(400);
            assertThat(wrong.body()).contains("line 1, column 8").doesNotContain("explain");
            for (String statement :
                    new String[] {"select id from T", "explain select id from T", "delete from T"
                    }) {
                HttpResponse<String> explained =
                        ask(served, "{\"statement\":\"%s\",\"explain\":true}".formatted(statement));
                assertThat(explained.statusCode()).as(explained.body()).isEqualTo(200);
            }
        }
    }

    @Test
    void a_change_that_fails_behind_some_batches_tells_what_stays() throws Exception {
        try (ServedStore served = serve()) {
            served.store("one").dataset("T").upsert(Map.of("id", 9_000L, "n", 1, "text", "x"));
            StringBuilder values = new StringBuilder();
            for (long id = 10_000; id < 13_000; id++) {
                values.append(id == 10_000 ? "" : ",")
                        .append('(')
                        .append(id == 12_500 ? 9_000 : id)
                        .append(", 1, 'x')");
            }
            HttpResponse<String> failed = ask(
                    served,
                    "{\"statement\":\"insert into T (id, n, text) values %s\"}".formatted(values));
            assertThat(failed.statusCode()).as(failed.body()).isEqualTo(400);
            assertThat(failed.body())
                    .contains("already has a record with primary key [9000]")
                    .contains("2048 records were changed before it ended");
        }
    }
}
