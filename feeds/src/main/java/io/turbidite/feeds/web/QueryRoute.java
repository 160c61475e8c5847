package io.turbidite.feeds.web;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.query.Question;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.http.Route;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import picocli.CommandLine.Model.OptionSpec;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;

/**
 * What {@code ./turbidite query} asks, with its options as the keys of a JSON object: whatever the
 * command takes, this takes, and reads it by the same parser. <em>Thread-safe.</em>
 */
final class QueryRoute {
    private static final long BODY_BYTES_MAX = 4 << 20;
    private static final List<String> OWN_KEYS = List.of("dataset", "timeoutMs", "explain");

    private final ServedStores stores;
    private final Clock clock;
    private final List<OptionSpec> options = Question.options();
    private final List<String> keys = Stream.concat(
                    OWN_KEYS.stream(), options.stream().map(QueryRoute::keyOf))
            .toList();

    QueryRoute(ServedStores stores, Clock clock) {
        this.stores = stores;
        this.clock = clock;
    }

    List<Route> routes() {
        return List.of(Route.of("POST", "/v1/stores/{store}/query", Right.READ, this::run)
                .withBodyBytesMax(BODY_BYTES_MAX));
    }

    /** Every key that a body may have. */
    List<String> keys() {
        return keys;
    }

    private static String keyOf(OptionSpec option) {
        return option.longestName().substring("--".length());
    }

    private void run(Exchange exchange) throws IOException {
        Store store = stores.store(exchange);
        JsonNode body = Bodies.json(exchange);
        Bodies.checkKeys(body, keys);
        boolean explains = Bodies.truth(body, "explain");
        Deadline deadline = Deadline.of(exchange, clock, body);
        String dataset = Bodies.text(body, "dataset");
        OwnDatasets.of(exchange).require(dataset);
        Query query = Question.of(arguments(body))
                .on(store.dataset(dataset))
                .with(RunOptions.defaults()
                        .withSpill(store.environment().disk(), StoreFiles.SPILL)
                        .withTasks(store.environment().tasks())
                        .withStop(deadline::isOver));
        if (explains) {
            exchange.answer(200, query.explain().toMap());
            return;
        }
        RowAnswer answer = RowAnswer.of(exchange, deadline);
        try (QueryResult result = query.run()) {
            answer.send(
                    result,
                    OptionalLong.empty(), // the query has its own
                    result.rowType().declared().stream()
                            .map(field -> RowAnswer.column(field.name(), field.typeLabel()))
                            .toList());
        } catch (CancellationException ended) {
            throw deadline.passed();
        }
    }

    /** The options of the command that say the same. */
    private List<String> arguments(JsonNode body) {
        List<String> arguments = new ArrayList<>();
        for (OptionSpec option : options) {
            String key = keyOf(option);
            JsonNode node = body.path(key);
            if (node.isMissingNode() || node.isNull()) {
                continue;
            }
            if (option.type() == boolean.class) {
                if (Bodies.truth(body, key)) {
                    arguments.add("--" + key);
                }
            } else if (option.isMultiValue()) {
                texts(body, key).forEach(text -> arguments.add("--" + key + "=" + text));
            } else if (option.type() == String.class) {
                arguments.add("--" + key + "=" + Bodies.text(body, key));
            } else {
                long most = option.type() == Integer.class ? Integer.MAX_VALUE : Long.MAX_VALUE;
                arguments.add("--" + key + "=" + Bodies.number(body, key, 0, 0, most));
            }
        }
        return arguments;
    }

    /** One text, or an array of them. */
    private static List<String> texts(JsonNode body, String key) {
        JsonNode node = body.path(key);
        if (node.isTextual()) {
            return List.of(node.textValue());
        }
        boolean isTexts = node.isArray();
        List<String> texts = new ArrayList<>();
        for (JsonNode one : node) {
            isTexts &= one.isTextual();
            texts.add(one.asText());
        }
        if (!isTexts) {
            throw Problem.of(400, "'%s' must be a text or an array of texts".formatted(key));
        }
        return texts;
    }
}
