package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.Point;
import io.turbidite.feeds.command.Main;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** Questions over HTTP: what the command {@code query} takes, and what it gives. */
class QueryRouteTest {
    private static final String PATH = "/v1/stores/one/query";
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int QUESTIONS = 40;

    @TempDir
    private Path directory;

    private static void fill(ServedStore served) {
        Dataset pets = served.store("one")
                .createDataset(DatasetSpec.named("Pets")
                        .field("id", "int64")
                        .field("age", "int32?")
                        .field("kind", "string")
                        .field("place", "point")
                        .primaryKey("id")
                        .index(IndexSpec.btree("by_age", "age")));
        for (int i = 0; i < 400; i++) {
            Map<String, Object> pet = new LinkedHashMap<>();
            pet.put("id", (long) i);
            if (i % 7 != 0) {
                pet.put("age", i * 31 % 23 - 3);
            }
            pet.put("kind", List.of("cat", "dog, \"big\"", "old cat").get(i % 3));
            pet.put("place", new Point(i % 20, i / 20.0));
            pets.upsert(pet);
        }
        pets.flush();
    }

    /** A question with its options as the command has them. */
    private record Asked(Map<String, List<String>> options) {
        /** What all are asked with has an order that leaves nothing open. */
        static Asked random(Random random) {
            Map<String, List<String>> options = new LinkedHashMap<>();
            int low = random.nextInt(23) - 3;
            if (random.nextBoolean()) {
                options.put(
                        "range", List.of("age=%d..%d".formatted(low, low + random.nextInt(15))));
            }
            switch (random.nextInt(8)) {
                case 0 -> options.put("eq", List.of("kind=cat", "age=" + low));
                case 1 -> options.put("contains", List.of("kind=cat"));
                case 2 -> options.put("within", List.of("place=-1,2,%d,9.5".formatted(low)));
                case 3 -> options.put("distance", List.of("place=3,%d,4.5".formatted(low)));
                case 4 -> options.put("where", List.of("id > 100", "kind <> 'cat' or age < -1"));
                case 5 -> options.put("contains-any", List.of("kind:word=big old"));
                case 6 -> options.put("above", List.of("age=" + low));
                default -> options.put("eq", List.of("age=null"));
            }
            switch (random.nextInt(5)) {
                case 0 -> {
                    options.put("group", List.of("kind"));
                    options.put("sum", List.of("age,id - age as rest"));
                    options.put("max", List.of("age"));
                    options.put("count", List.of());
                    options.put("order", List.of("kind:desc"));
                }
                case 1 -> options.put("count", List.of());
                case 2 -> {
                    options.put("near", List.of("place=-1,%d".formatted(low)));
                    options.put("select", List.of("id", "distance"));
                }
                default -> {
                    options.put("order", List.of("age:desc,id"));
                    options.put("select", List.of("id, kind, place", "age"));
                }
            }
            if (!options.containsKey("count")) {
                options.put("limit", List.of(Integer.toString(1 + random.nextInt(90))));
            }
            return new Asked(options);
        }

        /** As a body; a text alone in place of an array of one now and then. */
        String body() {
            ObjectNode body = MAPPER.createObjectNode().put("dataset", "Pets");
            options.forEach((name, values) -> {
                if (name.equals("count")) {
                    body.put(name, true);
                } else if (name.equals("limit")) {
                    body.put(name, Long.parseLong(values.getFirst()));
                } else if (values.size() == 1) {
                    body.put(name, values.getFirst());
                } else {
                    ArrayNode array = body.putArray(name);
                    values.forEach(array::add);
                }
            });
            return body.toString();
        }

        List<String> arguments() {
            List<String> arguments = new ArrayList<>();
            options.forEach((name, values) -> {
                if (values.isEmpty()) {
                    arguments.add("--" + name);
                }
                values.forEach(value -> {
                    arguments.add("--" + name);
                    arguments.add(value);
                });
            });
            return arguments;
        }
    }

    private static HttpResponse<String> ask(ServedStore served, String accept, String body)
            throws Exception {
        return served.send(served.request(PATH)
                .header("Accept", accept)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build());
    }

    private String command(Asked asked, boolean csv) {
        List<String> arguments =
                new ArrayList<>(List.of("query", directory.resolve("one").toString(), "Pets"));
        arguments.addAll(asked.arguments());
        if (csv) {
            arguments.add("--csv");
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = Main.run(
                arguments.toArray(String[]::new),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        assertThat(code).as("%s: %s", arguments, err).isZero();
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void random_questions_have_the_answers_of_the_command() throws Exception {
        long seed = Seeds.of("QueryRouteTest");
        Random random = new Random(seed);
        List<Asked> questions = new ArrayList<>();
        List<String> answers = new ArrayList<>();
        try (ServedStore served = ServedStore.open(directory)) {
            fill(served);
            for (int i = 0; i < QUESTIONS; i++) {
                Asked asked = Asked.random(random);
                questions.add(asked);
                HttpResponse<String> answer =
                        ask(served, i % 2 == 0 ? "text/csv" : "*/*", asked.body());
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                answers.add(answer.body());
            }
        }
        long rows = 0;
        for (int i = 0; i < QUESTIONS; i++) {
            String as = "%s question %d: %s"
                    .formatted(
                            Seeds.replay("QueryRouteTest", seed),
                            i,
                            questions.get(i).body());
            String answer = answers.get(i);
            if (i % 2 == 0) {
                assertThat(answer).as(as).isEqualTo(command(questions.get(i), true));
                continue;
            }
            List<String> lines = answer.lines().toList();
            JsonNode summary = ServedStore.json(lines.getLast()).at("/summary");
            assertThat(lines.subList(0, lines.size() - 1))
                    .as(as)
                    .isEqualTo(command(questions.get(i), false).lines().toList());
            assertThat(summary.at("/rows").asInt()).as(as).isEqualTo(lines.size() - 1);
            rows += lines.size() - 1;
        }
        assertThat(rows).as("questions that have answers").isGreaterThan(QUESTIONS);
    }

    @Test
    void rows_come_in_the_form_that_the_client_takes() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            String body =
                    "{\"dataset\":\"T\",\"eq\":\"n=3\",\"select\":\"id\",\"order\":\"id\",\"limit\":2}";
            JsonNode object =
                    ServedStore.json(ask(served, "application/json", body).body());
            assertThat(object.at("/rows")).hasToString("[{\"id\":3},{\"id\":13}]");
            assertThat(object.at("/summary/columns"))
                    .hasToString("[{\"name\":\"id\",\"type\":\"int64?\"}]");
            assertThat(object.at("/summary").has("limited")).isFalse();
            assertThat(ask(served, "text/csv", body).body()).isEqualTo("id\r\n3\r\n13\r\n");
            assertThat(ask(served, "text/html", body).statusCode()).isEqualTo(406);
            JsonNode plan = ServedStore.json(
                    ask(served, "*/*", body.replace("{\"d", "{\"explain\":true,\"d"))
                            .body());
            assertThat(plan.at("/access").asText()).contains("by_n");
        }
    }

    private static void refused(ServedStore served, String body, String... told) throws Exception {
        HttpResponse<String> answer = served.post(PATH, body);
        assertThat(answer.statusCode()).as(body).isEqualTo(400);
        assertThat(answer.headers().firstValue("content-type"))
                .contains("application/problem+json");
        assertThat(ServedStore.json(answer.body()).at("/detail").asText()).contains(told);
    }

    @Test
    void what_is_wrong_is_told_by_its_name() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            refused(served, "{}", "'dataset' must be a text");
            refused(served, "{\"dataset\":7}", "'dataset' must be a text");
            refused(served, "{\"dataset\":\"Nets\"}", "Nets");
            refused(served, "{\"dataset\":\"T\",\"wher\":\"id=1\"}", "'wher'", "where");
            refused(served, "{\"dataset\":\"T\",\"eq\":{\"id\":1}}", "'eq' must be a text or");
            refused(served, "{\"dataset\":\"T\",\"eq\":[\"id=1\",2]}", "'eq' must be a text or");
            refused(served, "{\"dataset\":\"T\",\"eq\":7}", "'eq' must be a text or");
            refused(served, "{\"dataset\":\"T\",\"eq\":\"id\"}", "eq 'id'");
            refused(served, "{\"dataset\":\"T\",\"eq\":\"id=x\"}", "x", "id");
            refused(served, "{\"dataset\":\"T\",\"eq\":\"none=1\"}", "none");
            refused(served, "{\"dataset\":\"T\",\"where\":\"id >\"}", "id >");
            refused(served, "{\"dataset\":\"T\",\"near\":[\"id=1,2\"]}", "'near' must be a text");
            refused(
                    served,
                    "{\"dataset\":\"T\",\"count\":\"yes\"}",
                    "'count' must be true or false");
            refused(served, "{\"dataset\":\"T\",\"explain\":1}", "'explain' must be true or false");
            refused(
                    served,
                    "{\"dataset\":\"T\",\"limit\":\"5\"}",
                    "'limit' must be a whole number");
            refused(served, "{\"dataset\":\"T\",\"limit\":-5}", "'limit' must be a whole number");
            refused(served, "{\"dataset\":\"T\",\"limit\":1e40}", "'limit' must be a whole number");
            refused(
                    served,
                    "{\"dataset\":\"T\",\"newest-of-each\":3000000000}",
                    "'newest-of-each' must be a whole number from 0 to 2147483647");
            refused(served, "{\"dataset\":\"T\",\"newest-of-each\":0}", "the newest 0 of each");
            refused(served, "{\"dataset\":\"T\",\"timeoutMs\":0}", "'timeoutMs'");
            assertThat(served.post("/v1/stores/none/query", "{\"dataset\":\"T\"}")
                            .statusCode())
                    .isEqualTo(404);
            assertThat(served.post(PATH, "{\"dataset\":\"T\",\"where\":null,\"count\":true}")
                            .body())
                    .startsWith("{\"count\":500}\n");
        }
    }

    @Test
    void it_takes_the_right_to_read_the_store() throws Exception {
        Token.Made ofTwo = Token.make("two", EnumSet.of(Right.READ), List.of("two"), List.of());
        Token.Made writer = Token.make("w", EnumSet.of(Right.WRITE), List.of("*"), List.of("*"));
        Token.Made ofOne = Token.make("one", EnumSet.of(Right.READ), List.of("one"), List.of());
        Gate gate = Gate.of(List.of(ofTwo.kept(), writer.kept(), ofOne.kept()), false);
        try (ServedStore served = ServedStore.open(directory, HttpOptions.defaults(), gate)) {
            String body = "{\"dataset\":\"T\",\"count\":true}";
            assertThat(served.post(PATH, body).statusCode()).isEqualTo(401);
            for (Token.Made token : List.of(ofTwo, writer, ofOne)) {
                HttpRequest request = served.request(PATH)
                        .header("Authorization", "Bearer " + token.text())
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build();
                assertThat(served.send(request).statusCode())
                        .as(token.kept().name())
                        .isEqualTo(token.equals(ofOne) ? 200 : 403);
            }
        }
    }

    @Test
    void a_question_whose_time_is_over_ends() throws Exception {
        AtomicLong hours = new AtomicLong();
        Clock hasty = new Clock() {
            @Override
            public long monotonicNanos() {
                return hours.incrementAndGet() * 3_600_000_000_000L;
            }

            @Override
            public long wallMicros() {
                return Clock.system().wallMicros();
            }
        };
        try (ServedStore served = ServedStore.open(directory);
                WebServer server = served.anotherServer(hasty)) {
            HttpResponse<String> answer =
                    served.send(HttpRequest.newBuilder(ServedStore.uri(server, PATH))
                            .POST(HttpRequest.BodyPublishers.ofString(
                                    "{\"dataset\":\"T\",\"order\":\"text\",\"timeoutMs\":1000}"))
                            .build());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(504);
            assertThat(answer.body()).contains("longer than 1000 ms").contains("timeoutMs");
            HttpResponse<String> longest = served.send(HttpRequest.newBuilder(
                            ServedStore.uri(server, PATH))
                    .POST(HttpRequest.BodyPublishers.ofString(
                            "{\"dataset\":\"T\",\"order\":\"text\",\"timeoutMs\":86400000}"))
                    .build());
            assertThat(longest.statusCode()).as(longest.body()).isEqualTo(504);
            assertThat(longest.body()).contains("longer than 3600000 ms", "--request-millis");
        }
    }

    @Test
    void the_description_has_every_option(@TempDir Path elsewhere) throws Exception {
        try (ServedStore served = ServedStore.open(elsewhere)) {
            JsonNode document = ServedStore.json(served.get("/openapi.json").body());
            JsonNode described = document.at("/paths")
                    .get("/v1/stores/{store}/query")
                    .at("/post/requestBody/content/application~1json/schema/properties");
            List<String> keys = new QueryRoute(
                            new ServedStores(served.stores, served.feeds), Clock.system())
                    .keys();
            assertThat(described.fieldNames())
                    .toIterable()
                    .containsExactlyInAnyOrderElementsOf(keys);
        }
    }
}
