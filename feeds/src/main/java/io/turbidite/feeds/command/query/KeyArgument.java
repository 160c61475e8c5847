package io.turbidite.feeds.command.query;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * A primary key as an argument: the value as text if the key is one field, else a JSON array of the
 * values. Static, without state.
 */
public final class KeyArgument {
    private KeyArgument() {}

    /**
     * The values of the key, in its order.
     *
     * @throws InvalidRequestException naming the field whose value isn't one
     */
    public static List<Object> parse(RecordType type, List<String> primaryKey, String text) {
        if (primaryKey.size() == 1) {
            return List.of(value(type, primaryKey.getFirst(), text));
        }
        JsonNode array = array(primaryKey, text);
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < primaryKey.size(); i++) {
            JsonNode element = array.get(i);
            if (element.isNull()) {
                throw new InvalidRequestException(
                        "KEY has null for '%s': no field of a primary key is ever null"
                                .formatted(primaryKey.get(i)));
            }
            values.add(value(
                    type,
                    primaryKey.get(i),
                    element.isContainerNode() ? element.toString() : element.asText()));
        }
        return values;
    }

    private static Object value(RecordType type, String name, String text) {
        Field field = type.field(type.require(name, "the primary key"));
        try {
            return ValueParser.parse(field.kind(), text);
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException("KEY: %s: %s".formatted(name, e.getMessage()), e);
        }
    }

    private static JsonNode array(List<String> primaryKey, String text) {
        JsonNode node;
        try {
            node = JsonMapper.builder()
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .build()
                    .readTree(text);
        } catch (JsonProcessingException | NumberFormatException e) {
            throw notArray(primaryKey, text, e);
        }
        if (!node.isArray() || node.size() != primaryKey.size()) {
            throw notArray(primaryKey, text, null);
        }
        return node;
    }

    private static InvalidRequestException notArray(
            List<String> primaryKey, String text, @Nullable Exception cause) {
        return new InvalidRequestException(
                "KEY '%s' is not a JSON array of the %d values of the primary key %s, such as '[\"UA\",1545]'"
                        .formatted(text, primaryKey.size(), primaryKey),
                cause);
    }
}
