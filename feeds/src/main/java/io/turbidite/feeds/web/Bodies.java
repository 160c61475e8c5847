package io.turbidite.feeds.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.turbidite.core.record.JsonMessages;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Problem;

import java.io.IOException;
import java.util.List;

/** Bodies of requests that are one JSON object. Static, without state. */
final class Bodies {
    private static final int DEPTH_MAX = 64;
    private static final int NUMBER_CHARS_MAX = 1_000;

    private static final JsonMapper MAPPER = mapper();

    private Bodies() {}

    private static JsonMapper mapper() {
        JsonMapper mapper = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .build();
        mapper.getFactory()
                .setStreamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(DEPTH_MAX)
                        .maxNumberLength(NUMBER_CHARS_MAX)
                        .build());
        return mapper;
    }

    /** As {@link #json}; nothing is an object without keys. */
    static JsonNode jsonOrNothing(Exchange exchange) throws IOException {
        byte[] bytes = exchange.body().readAllBytes();
        return bytes.length == 0 ? MAPPER.createObjectNode() : json(bytes);
    }

    /** The body, which must be one object. */
    static JsonNode json(Exchange exchange) throws IOException {
        return json(exchange.body().readAllBytes()); // as long as the route allows
    }

    private static JsonNode json(byte[] bytes) throws IOException {
        JsonNode body;
        try {
            body = MAPPER.readTree(bytes);
        } catch (JsonProcessingException e) {
            throw Problem.of(
                    400,
                    "the body is not JSON: line %d, column %d: %s"
                            .formatted(
                                    e.getLocation() == null
                                            ? 1
                                            : e.getLocation().getLineNr(),
                                    e.getLocation() == null
                                            ? 1
                                            : e.getLocation().getColumnNr(),
                                    JsonMessages.told(e.getOriginalMessage())));
        } catch (NumberFormatException e) {
            throw Problem.of(400, "the body has a number whose exponent is too large");
        }
        if (!body.isObject()) {
            throw Problem.of(400, "the body must be one JSON object");
        }
        return body;
    }

    static void checkKeys(JsonNode body, List<String> known) {
        body.fieldNames().forEachRemaining(name -> {
            if (!known.contains(name)) {
                throw Problem.of(
                        400, "the body has no key '%s'; keys are %s".formatted(name, known));
            }
        });
    }

    static String text(JsonNode body, String key) {
        if (!body.path(key).isTextual()) {
            throw Problem.of(400, "'%s' must be a text".formatted(key));
        }
        return body.path(key).textValue();
    }

    /** False if it is not there. */
    static boolean truth(JsonNode body, String key) {
        JsonNode node = body.path(key);
        if (!node.isMissingNode() && !node.isNull() && !node.isBoolean()) {
            throw Problem.of(400, "'%s' must be true or false".formatted(key));
        }
        return node.booleanValue();
    }

    static long number(JsonNode body, String key, long otherwise, long min, long max) {
        JsonNode node = body.path(key);
        if (node.isMissingNode() || node.isNull()) {
            return otherwise;
        }
        if (!node.canConvertToLong()
                || !node.isIntegralNumber()
                || node.longValue() < min
                || node.longValue() > max) {
            throw Problem.of(
                    400, "'%s' must be a whole number from %d to %d".formatted(key, min, max));
        }
        return node.longValue();
    }
}
