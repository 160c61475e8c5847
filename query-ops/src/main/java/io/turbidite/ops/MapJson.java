package io.turbidite.ops;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;

/** Maps, lists, texts, numbers and truths as JSON on one line. Static, without state. */
final class MapJson {
    private static final JsonFactory FACTORY = new JsonFactory();

    private MapJson() {}

    static String of(Map<String, ?> map) {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = FACTORY.createGenerator(text)) {
            write(out, map);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void write(JsonGenerator out, Object value) throws IOException {
        switch (value) {
            case Map<?, ?> map -> {
                out.writeStartObject();
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    out.writeFieldName(String.valueOf(entry.getKey()));
                    write(out, entry.getValue());
                }
                out.writeEndObject();
            }
            case Iterable<?> list -> {
                out.writeStartArray();
                for (Object one : list) {
                    write(out, one);
                }
                out.writeEndArray();
            }
            case Boolean truth -> out.writeBoolean(truth);
            case Double number -> out.writeNumber(number);
            case Number number -> out.writeNumber(number.longValue());
            default -> out.writeString(String.valueOf(value));
        }
    }
}
