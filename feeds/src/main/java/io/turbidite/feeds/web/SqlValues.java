package io.turbidite.feeds.web;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.web.http.Problem;

import org.jspecify.annotations.Nullable;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Base64;
import java.util.List;
import java.util.UUID;

/** Parameters of statements, from JSON. Static, without state. */
final class SqlValues {
    private SqlValues() {}

    /**
     * The values in their order.
     *
     * @param types as SQL names them
     * @param given an array, or nothing
     */
    static @Nullable Object[] of(List<String> types, JsonNode given) {
        if (!given.isMissingNode() && !given.isNull() && !given.isArray()) {
            throw Problem.of(400, "'parameters' must be an array of values");
        }
        @Nullable Object[] values = new @Nullable Object[given.size()];
        for (int i = 0; i < values.length; i++) {
            String type = i < types.size() ? types.get(i) : "";
            try {
                values[i] = value(type, given.get(i));
            } catch (DateTimeException | IllegalArgumentException e) {
                throw Problem.of(
                        400,
                        "parameter %d is a %s: '%s' is none"
                                .formatted(i + 1, type, given.get(i).asText()));
            }
        }
        return values;
    }

    private static @Nullable Object value(String type, JsonNode node) {
        if (node.isNull()) {
            return null;
        }
        if (node.isBoolean()) {
            return node.booleanValue();
        }
        if (node.isIntegralNumber()) {
            return node.canConvertToLong() ? (Object) node.longValue() : node.decimalValue();
        }
        if (node.isNumber()) {
            return type.startsWith("DECIMAL") ? (Object) node.decimalValue() : node.doubleValue();
        }
        if (!node.isTextual()) {
            throw new IllegalArgumentException("no value");
        }
        String text = node.textValue();
        if (type.startsWith("TIMESTAMP")) {
            return Instant.parse(text);
        }
        if (type.startsWith("TIME")) {
            return LocalTime.parse(text);
        }
        if (type.startsWith("DATE")) {
            return LocalDate.parse(text);
        }
        if (type.startsWith("INTERVAL")) {
            return Duration.parse(text);
        }
        if (type.startsWith("VARBINARY") || type.startsWith("BINARY")) {
            return Base64.getDecoder().decode(text);
        }
        return type.startsWith("UUID") ? (Object) UUID.fromString(text) : text;
    }
}
