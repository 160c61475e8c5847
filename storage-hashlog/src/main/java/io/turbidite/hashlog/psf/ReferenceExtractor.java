package io.turbidite.hashlog.psf;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;

import io.turbidite.hashlog.parse.Rejection;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;

/** Plain and slow: the whole record through Jackson. */
final class ReferenceExtractor implements PropertyExtractor {
    private final JsonFactory factory = new JsonFactory();
    private final SortedMap<Integer, PsfDefinition> definitions;
    private @Nullable Rejection rejection;

    ReferenceExtractor(SortedMap<Integer, PsfDefinition> definitions) {
        this.definitions = definitions;
    }

    @Override
    public boolean extract(MemorySegment segment, long offset, int length, Properties into) {
        into.clear();
        rejection = null;
        if (definitions.isEmpty()) {
            return true;
        }
        byte[] bytes = segment.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
        Map<String, Object> values = new HashMap<>();
        try (JsonParser json = factory.createParser(bytes)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                rejection = new Rejection(Rejection.Kind.NOT_AN_OBJECT, 0);
                return false;
            }
            object(json, "", values);
        } catch (JsonProcessingException e) {
            int at = (int) Math.max(0, e.getLocation().getByteOffset());
            rejection = new Rejection(Rejection.Kind.EXPECTED_VALUE, at);
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        definitions.forEach((id, definition) -> {
            if (definition instanceof PsfDefinition.Field field) {
                Object value = values.get(field.path().text());
                if (value instanceof Long number) {
                    into.addInline(id, number);
                } else if (value instanceof String text) {
                    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
                    into.addRegion(id, MemorySegment.ofArray(utf8), 0, utf8.length);
                }
            }
        });
        return true;
    }

    private static void object(JsonParser json, String prefix, Map<String, Object> values)
            throws IOException {
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String path = prefix + json.currentName();
            switch (json.nextToken()) {
                case START_OBJECT -> object(json, path + ".", values);
                case VALUE_STRING -> values.putIfAbsent(path, json.getText());
                case VALUE_NUMBER_INT -> values.putIfAbsent(path, json.getLongValue());
                default -> json.skipChildren();
            }
        }
    }

    @Override
    public Rejection rejection() {
        if (rejection == null) {
            throw new IllegalStateException("the last record was not refused");
        }
        return rejection;
    }
}
