package io.turbidite.ops;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Flights in memory, with two indexes, and what queries on them give. */
final class Flights {
    static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("departure", "datetime")
            .field("carrier", "string")
            .field("tail", "string?")
            .field("delay", "double?")
            .field("name", "string?")
            .field("place", "point?")
            .field("area", "rectangle?")
            .build();

    private Flights() {}

    /** No flights yet; three partitions. */
    static MemorySource source() {
        return new MemorySource(
                TYPE,
                List.of("id"),
                List.of("departure"),
                List.of(
                        new IndexDescription(
                                "by_tail", IndexDescription.Kind.BTREE, List.of("tail"), true),
                        new IndexDescription(
                                "by_carrier",
                                IndexDescription.Kind.BTREE,
                                List.of("carrier", "delay"),
                                false)),
                3);
    }

    /** A flight of UA, one an hour by id, with further fields: name, value, name, value. */
    static Map<String, @Nullable Object> flight(long id, @Nullable Object... fields) {
        Map<String, @Nullable Object> flight = new LinkedHashMap<>();
        flight.put("id", id);
        flight.put("departure", Instant.ofEpochSecond(id * 3_600));
        flight.put("carrier", "UA");
        for (int i = 0; i < fields.length; i += 2) {
            flight.put(String.valueOf(fields[i]), fields[i + 1]);
        }
        return flight;
    }

    /** Puts flights 0 to {@code count}, of ten tails and seven delays. */
    static void many(MemorySource flights, int count) {
        for (int i = 0; i < count; i++) {
            flights.upsert(flight(i, "tail", "N" + i % 10, "delay", i % 7 - 3.0));
        }
    }

    static List<Object> ids(Query query) {
        List<Object> ids = new ArrayList<>();
        try (QueryResult result = query.orderBy("id").run()) {
            while (result.next()) {
                ids.add(result.row().getLong(0));
            }
        }
        return ids;
    }

    static String json(Query query) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (QueryResult result = query.run()) {
            result.forEachJson(out);
        }
        return out.toString(StandardCharsets.UTF_8);
    }
}
