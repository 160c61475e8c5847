package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.web.http.Route;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The committed description of the server has the routes that there are, and no others. */
class OpenApiTest {
    private static final Pattern NAME = Pattern.compile("\\{(\\w+)}");

    @Test
    void every_route_is_described_and_no_other(@TempDir Path directory) throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            HttpResponse<String> answer = served.get("/openapi.json");
            assertThat(answer.headers().firstValue("content-type")).contains("application/json");
            JsonNode document = ServedStore.json(answer.body());
            Map<String, Set<String>> described = new TreeMap<>();
            document.at("/paths")
                    .properties()
                    .forEach(path -> path.getValue().properties().forEach(operation -> {
                        described.put(
                                operation.getKey().toUpperCase(Locale.ROOT) + " " + path.getKey(),
                                namesIn(operation.getValue(), "query"));
                        assertThat(namesIn(operation.getValue(), "path"))
                                .as(path.getKey())
                                .isEqualTo(namesOf(path.getKey()));
                    }));
            Map<String, Set<String>> routes = new TreeMap<>();
            for (Route route : served.server.routes()) {
                boolean takesAny = route.parameters().contains("*");
                routes.put(
                        route.method() + " " + route.template(),
                        takesAny ? Set.of() : route.parameters());
            }
            assertThat(described).isEqualTo(routes);
        }
    }

    private static Set<String> namesOf(String template) {
        Set<String> names = new TreeSet<>();
        Matcher name = NAME.matcher(template);
        while (name.find()) {
            names.add(name.group(1));
        }
        return names;
    }

    private static Set<String> namesIn(JsonNode operation, String in) {
        Set<String> names = new TreeSet<>();
        operation.at("/parameters").forEach(one -> {
            if (one.at("/in").asText().equals(in)) {
                names.add(one.at("/name").asText());
            }
        });
        return names;
    }

    @Test
    void files_come_once_and_only_from_their_folder(@TempDir Path directory) throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            HttpResponse<String> page = served.get("/");
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("content-security-policy"))
                    .contains(
                            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
            assertThat(served.get("/main.js").headers().firstValue("content-type"))
                    .contains("text/javascript; charset=utf-8");
            String tag = page.headers().firstValue("etag").orElseThrow();
            HttpResponse<String> again =
                    served.send(served.request("/").header("If-None-Match", tag).build());
            assertThat(again.statusCode()).isEqualTo(304);
            assertThat(again.body()).isEmpty();
            for (String path : Set.of(
                    "/../module-info.class", "/%2e%2e/web/WebServer.class", "/none.js", "/.html")) {
                assertThat(served.get(path).statusCode()).as(path).isBetween(400, 404);
            }
        }
    }
}
