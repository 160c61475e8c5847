package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedStatus;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;

/** Statements about feeds ask for the rights that the addresses of feeds ask for. */
@Timeout(60)
class FeedStatementsTest {
    private static final String CREATE =
            "create feed %s with (dataset.name = 'Sent', dataset.type = '{id: int64}', dataset.primaryKey = id, source.kind = http, parser.kind = json)";

    @TempDir
    private Path directory;

    private final Token.Made manager =
            Token.make("manager", EnumSet.allOf(Right.class), List.of("*"), List.of("*"));

    /** May do all with feed a, in store one. */
    private final Token.Made some =
            Token.make("some", EnumSet.allOf(Right.class), List.of("one"), List.of("a"));

    /** May read and write all, and manage nothing. */
    private final Token.Made writer =
            Token.make("writer", EnumSet.of(Right.READ, Right.WRITE), List.of("*"), List.of("*"));

    private ServedStore serve() throws Exception {
        return ServedStore.open(
                directory,
                HttpOptions.defaults(),
                Gate.of(List.of(manager.kept(), some.kept(), writer.kept()), false));
    }

    private static HttpResponse<String> ask(
            ServedStore served, HttpRequest.Builder request, Token.Made by, String statement)
            throws Exception {
        return served.send(request.header("Authorization", "Bearer " + by.text())
                .POST(BodyPublishers.ofString("{\"statement\":\"%s\"}"
                        .formatted(statement.replace("\"", "\\\"").replace("\n", "\\n"))))
                .build());
    }

    private static void answers(
            ServedStore served, Token.Made by, int status, String statement, String... told)
            throws Exception {
        HttpResponse<String> answer =
                ask(served, served.request("/v1/stores/one/sql"), by, statement);
        assertThat(answer.statusCode()).as(statement + answer.body()).isEqualTo(status);
        for (String part : told) {
            assertThat(answer.body()).as(statement).contains(part);
        }
    }

    private static List<String> feeds(ServedStore served) {
        FeedManager one = Objects.requireNonNull(served.feeds.get("one"));
        return one.list().stream().map(FeedStatus::name).toList();
    }

    @Test
    void who_may_manage_a_feed_and_its_store_does_it_by_statements() throws Exception {
        try (ServedStore served = serve()) {
            answers(served, some, 200, CREATE.formatted("a"));
            assertThat(feeds(served)).containsExactly("a");
            answers(
                    served,
                    some,
                    400,
                    CREATE.formatted("a"),
                    "line 1, column 13: there is a feed a");
            answers(served, some, 200, "stop feed a");
            answers(
                    served,
                    some,
                    200,
                    "show feeds",
                    "\"feed\":\"a\",\"dataset\":\"Sent\",\"state\":\"stopped\"");
            answers(
                    served,
                    some,
                    200,
                    "describe feed a",
                    "{\"key\":\"source.kind\",\"value\":\"http\"}");
            answers(served, some, 200, "start feed a");
            answers(served, some, 200, "drop feed a");
            assertThat(feeds(served)).isEmpty();
        }
    }

    @Test
    void who_may_not_manage_a_feed_does_not_by_statements() throws Exception {
        try (ServedStore served = serve()) {
            answers(served, manager, 200, CREATE.formatted("a"));
            answers(served, manager, 200, CREATE.formatted("payroll"));
            for (String name : List.of("payroll", "nobody")) {
                for (String statement : List.of(
                        "drop feed " + name,
                        "drop feed if exists " + name,
                        "start feed " + name,
                        "stop feed " + name,
                        CREATE.formatted(name),
                        CREATE.formatted("if not exists " + name))) {
                    answers(served, some, 403, statement, "may not manage feed " + name);
                    answers(served, writer, 403, statement, "may not manage");
                }
            }
            for (String statement : List.of("drop feed a", "stop feed a", "start feed a")) {
                answers(served, writer, 403, statement, "may not manage");
            }
            assertThat(feeds(served)).containsExactly("a", "payroll");
            FeedManager one = Objects.requireNonNull(served.feeds.get("one"));
            assertThat(one.list()).noneMatch(FeedStatus::stopped);

            HttpResponse<String> shown =
                    ask(served, served.request("/v1/stores/one/sql"), some, "show feeds");
            assertThat(shown.body()).contains("\"a\"").doesNotContain("payroll");
            HttpResponse<String> described =
                    ask(served, served.request("/v1/stores/one/sql"), some, "describe feed payrol");
            assertThat(described.statusCode()).isEqualTo(400);
            assertThat(described.body())
                    .contains("there is no feed 'payrol'")
                    .doesNotContain("payroll");
            answers(served, some, 400, "describe feed payroll", "there is no feed 'payroll'");
            answers(served, writer, 200, "show feeds", "\"payroll\"");
            HttpResponse<String> elsewhere =
                    ask(served, served.request("/v1/stores/two/sql"), some, "drop feed a");
            assertThat(elsewhere.statusCode()).isEqualTo(403);
        }
    }

    @Test
    void files_of_a_definition_lie_below_those_of_the_server() throws Exception {
        String create =
                "create feed a with (dataset.name = 'Sent', dataset.type = '{id: int64}', dataset.primaryKey = id,\n source.kind = file, source.path = '%s', parser.kind = json%s)";
        Files.writeString(directory.resolve("in.json"), "{\"id\":1}\n");
        try (ServedStore served = serve();
                WebServer without = served.anotherServerWithoutFiles()) {
            for (String path : List.of("/etc/passwd", "../in.json")) {
                answers(
                        served,
                        some,
                        403,
                        create.formatted(path, ""),
                        "leads out of the directory");
            }
            answers(
                    served,
                    some,
                    403,
                    create.formatted(
                            "in.json",
                            ", dataset.maintenance = validation, dataset.indexes = '[{name: i, kind: pm, on: id, path: /etc/r}]'"),
                    "leads out of the directory");
            HttpResponse<String> none = ask(
                    served,
                    HttpRequest.newBuilder(ServedStore.uri(without, "/v1/stores/one/sql")),
                    some,
                    CREATE.formatted("a"));
            assertThat(none.statusCode()).as(none.body()).isEqualTo(403);
            assertThat(none.body()).contains("--files DIR");
            assertThat(feeds(served)).isEmpty();
            answers(
                    served,
                    some,
                    400,
                    create.formatted("in.json", ", workers = 'two'"),
                    "line 2, column 67: workers ");
            assertThat(feeds(served)).isEmpty();
            answers(served, some, 200, create.formatted("in.json", ""));
            assertThat(feeds(served)).containsExactly("a");
        }
    }
}
