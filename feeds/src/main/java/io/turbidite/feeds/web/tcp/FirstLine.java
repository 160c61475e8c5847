package io.turbidite.feeds.web.tcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.web.http.Problem;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Who sends, in the first line of a connection: an object of {@code token}, {@code producer} and
 * {@code sequence}, and of nothing else. <em>Immutable.</em>
 *
 * @param producer null if records have no numbers
 * @param sequence the number of the first record; 0: the one behind the last that was taken
 */
record FirstLine(@Nullable String token, @Nullable String producer, long sequence) {
    /** A longer line is none. */
    static final int BYTES_MAX = 4 << 10;

    private static final Set<String> KEYS = Set.of("token", "producer", "sequence");
    private static final int DEPTH_MAX = 4;
    private static final JsonMapper MAPPER = mapper();

    private static JsonMapper mapper() {
        JsonMapper mapper = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .build();
        mapper.getFactory()
                .setStreamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(DEPTH_MAX)
                        .maxNumberLength(32)
                        .build());
        return mapper;
    }

    /**
     * Reads a line.
     *
     * @return null if it is none such, but a record
     * @throws Problem with 400 if it is one, and wrong
     */
    static @Nullable FirstLine of(byte[] line) {
        if (line.length > BYTES_MAX) {
            return null;
        }
        JsonNode object;
        try {
            object = MAPPER.readTree(line);
        } catch (JsonProcessingException noObject) {
            return null; // a header of CSV, or a record that is to be rejected
        } catch (IOException e) {
            return null; // its bytes look like UTF-32 and are none
        }
        if (!object.isObject() || object.isEmpty()) {
            return null;
        }
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        if (!KEYS.containsAll(names)) {
            return null;
        }
        String producer = text(object, "producer");
        if (object.has("sequence") && producer == null) {
            throw Problem.of(400, "the first line has a 'sequence' and no 'producer'");
        }
        return new FirstLine(text(object, "token"), producer, sequence(object));
    }

    private static @Nullable String text(JsonNode object, String key) {
        JsonNode node = object.path(key);
        if (node.isMissingNode()) {
            return null;
        }
        if (!node.isTextual()) {
            throw Problem.of(400, "'%s' in the first line must be a text".formatted(key));
        }
        return node.textValue();
    }

    private static long sequence(JsonNode object) {
        JsonNode node = object.path("sequence");
        if (node.isMissingNode()) {
            return 0;
        }
        if (!node.isIntegralNumber()
                || !node.canConvertToLong()
                || node.longValue() < 1
                || node.longValue() > Parcel.SEQUENCE_MAX) {
            throw Problem.of(
                    400,
                    "'sequence' in the first line must be a whole number from 1 to %d"
                            .formatted(Parcel.SEQUENCE_MAX));
        }
        return node.longValue();
    }

    /** Without the token. */
    @Override
    public String toString() {
        return "first line of producer " + producer;
    }
}
