package io.turbidite.hashlog.parse;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;

import io.turbidite.core.expr.FieldPath;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a record holds, by Jackson: whole documents as plain objects, the first of equal names. */
final class Reference {
    private static final JsonFactory FACTORY = new JsonFactory();

    private Reference() {}

    /** The object, or null if the bytes are not one JSON object. */
    static @Nullable Map<?, ?> read(byte[] bytes) {
        try (JsonParser json = FACTORY.createParser(bytes)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            Object value = value(json);
            return json.nextToken() == null ? (Map<?, ?>) value : null;
        } catch (JsonProcessingException e) {
            return null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable Object value(JsonParser json) throws IOException {
        return switch (json.currentToken()) {
            case START_OBJECT -> {
                Map<String, @Nullable Object> members = new LinkedHashMap<>();
                while (json.nextToken() != JsonToken.END_OBJECT) {
                    String name = json.currentName();
                    json.nextToken();
                    Object value = value(json);
                    if (!members.containsKey(name)) {
                        members.put(name, value);
                    }
                }
                yield members;
            }
            case START_ARRAY -> {
                List<@Nullable Object> elements = new ArrayList<>();
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    elements.add(value(json));
                }
                yield elements;
            }
            case VALUE_STRING -> json.getText();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            default -> number(json.getText());
        };
    }

    /** The number, as it is written if its exponent is more than Java's. */
    private static Object number(String literal) {
        try {
            return new BigDecimal(literal);
        } catch (NumberFormatException e) {
            return literal;
        }
    }

    /** The value at {@code path}; {@link #MISSING} if there is none. */
    static @Nullable Object at(@Nullable Map<?, ?> record, FieldPath path) {
        Object value = record;
        for (FieldPath.Step step : path.steps()) {
            switch (step) {
                case FieldPath.Name(String name) -> {
                    if (!(value instanceof Map<?, ?> members) || !members.containsKey(name)) {
                        return MISSING;
                    }
                    value = members.get(name);
                }
                case FieldPath.Element(int index) -> {
                    if (!(value instanceof List<?> elements) || index >= elements.size()) {
                        return MISSING;
                    }
                    value = elements.get(index);
                }
            }
        }
        return value;
    }

    static final Object MISSING = "missing" + Reference.class;

    /**
     * What our parser found, as the same kind of object; containers are read again from their text.
     */
    static @Nullable Object found(FieldValues values, int field) {
        return switch (values.kind(field)) {
            case MISSING -> MISSING;
            case NULL -> null;
            case TRUE -> true;
            case FALSE -> false;
            case INTEGER -> BigDecimal.valueOf(values.integer(field));
            case DECIMAL -> number(values.text(field));
            case TEXT, DECODED_TEXT -> values.text(field);
            case OBJECT, ARRAY -> {
                byte[] wrapped =
                        ("{\"v\":" + values.text(field) + "}").getBytes(StandardCharsets.UTF_8);
                Map<?, ?> read = read(wrapped);
                yield read == null ? "unreadable" : read.get("v");
            }
        };
    }
}
