package io.turbidite.feeds.command.common;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;

import org.jspecify.annotations.Nullable;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Prints maps as JSON, one object a line, values as records print them. Static, without state. */
public final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {}

    /** An object under construction, its keys in the order of their calls. */
    public static final class Line {
        private final Map<String, @Nullable Object> fields = new LinkedHashMap<>();

        public Line put(String key, @Nullable Object value) {
            fields.put(key, value);
            return this;
        }

        public Map<String, @Nullable Object> toMap() {
            return fields;
        }

        public void printTo(PrintStream out) {
            out.println(text(fields));
        }
    }

    public static Line line() {
        return new Line();
    }

    /** The components of a value that is a record, by name. */
    public static Map<String, @Nullable Object> fields(Object value) {
        return MAPPER.convertValue(value, new TypeReference<>() {});
    }

    public static String text(Map<String, ?> object) {
        return print(object);
    }

    /** A value as it stands alone: text without quotes, arrays and records as JSON. */
    public static String plainText(Object value) {
        Object plain = plain(value);
        return plain instanceof List || plain instanceof Map ? print(value) : String.valueOf(plain);
    }

    private static String print(Object value) {
        try {
            return MAPPER.writeValueAsString(plain(value));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("maps, lists and values always print: " + value, e);
        }
    }

    /** Values of records that Jackson doesn't print as design §9 says. */
    private static @Nullable Object plain(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case Map<?, ?> map -> {
                Map<String, @Nullable Object> plain = new LinkedHashMap<>();
                map.forEach((key, v) -> plain.put(String.valueOf(key), plain(v)));
                yield plain;
            }
            case List<?> list -> {
                List<@Nullable Object> plain = new ArrayList<>();
                list.forEach(v -> plain.add(plain(v)));
                yield plain;
            }
            case Point point -> List.of(point.x(), point.y());
            case Rectangle box -> List.of(box.minX(), box.minY(), box.maxX(), box.maxY());
            // byte[] is base64 in Jackson too
            case String text -> text;
            case Number number -> number;
            case Boolean truth -> truth;
            case byte[] bytes -> bytes;
            default -> value.toString(); // dates, times, uuids: ISO 8601 or their usual text
        };
    }
}
