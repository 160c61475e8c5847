package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

class UnnestTest {
    private static final List<String> KINDS = List.of(
            "int8",
            "int64",
            "float",
            "double",
            "bool",
            "string",
            "decimal",
            "date",
            "datetime",
            "uuid",
            "bytes");

    private static Object value(String kind, Random random) {
        int n = random.nextInt(100);
        return switch (kind) {
            case "int8" -> (byte) n;
            case "int64" -> (long) n << 40;
            case "float" -> n / 4f;
            case "double" -> n / 8.0;
            case "bool" -> n % 2 == 0;
            case "string" -> "é" + n;
            case "decimal" -> new BigDecimal(n + ".25");
            case "date" -> LocalDate.ofEpochDay(n);
            case "datetime" -> Instant.ofEpochSecond(n);
            case "uuid" -> new UUID(n, n);
            default -> new byte[] {(byte) n, 0};
        };
    }

    private static Map<String, @Nullable Object> row(long id, String kind, Random random) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("id", id);
        List<Object> elements = new ArrayList<>();
        for (int i = random.nextInt(5); i > 0; i--) {
            elements.add(value(kind, random));
        }
        switch (random.nextInt(4)) {
            case 0 -> {}
            case 1 -> row.put("home", null);
            case 2 -> row.put("home", new LinkedHashMap<>(Map.of("x", 7)));
            default -> row.put("home", new LinkedHashMap<>(Map.of("x", 7, "all", elements)));
        }
        return row;
    }

    @SuppressWarnings("unchecked")
    private static List<Object> elements(Map<String, @Nullable Object> row) {
        Map<String, Object> home = (Map<String, Object>) row.get("home");
        return home == null ? List.of() : (List<Object>) home.getOrDefault("all", List.of());
    }

    /** An array of bytes equals no other. */
    private static @Nullable Object plain(@Nullable Object value) {
        return value instanceof byte[] bytes ? List.of(bytes[0], bytes[1]) : value;
    }

    @Test
    void elements_of_every_kind_are_those_of_a_loop() {
        for (String kind : KINDS) {
            Random random = new Random(kind.hashCode());
            MemorySource source = new MemorySource(
                    "Rows",
                    RecordType.builder()
                            .field("id", "int64")
                            .field("home", "{x: int32, all: [" + kind + "]?}?")
                            .build(),
                    List.of("id"),
                    List.of(),
                    List.of(),
                    3);
            List<List<@Nullable Object>> inner = new ArrayList<>();
            List<List<@Nullable Object>> outer = new ArrayList<>();
            for (long id = 0; id < 60; id++) {
                Map<String, @Nullable Object> row = row(id, kind, random);
                source.upsert(row);
                long number = 0;
                for (Object element : elements(row)) {
                    inner.add(List.of(id, String.valueOf(plain(element)), ++number));
                }
                if (number == 0) {
                    List<@Nullable Object> none = new ArrayList<>();
                    Collections.addAll(none, id, null, null);
                    outer.add(none);
                }
            }
            outer.addAll(inner);
            assertThat(read(Unnest.of(Query.on(source), "home.all", "e").numbered("n")))
                    .as(kind)
                    .containsExactlyInAnyOrderElementsOf(inner);
            assertThat(read(Unnest.of(Query.on(source), "home.all", "e")
                            .numbered("n")
                            .keepingEmpty()))
                    .as(kind)
                    .containsExactlyInAnyOrderElementsOf(outer);
            assertThat(source.openCount).hasValue(0);
        }
    }

    private static List<List<@Nullable Object>> read(Relation relation) {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        try (QueryResult result = relation.run()) {
            while (result.next()) {
                Object element = plain(result.row().get("e"));
                List<@Nullable Object> row = new ArrayList<>();
                row.add(result.row().get("id"));
                row.add(element == null ? null : String.valueOf(element));
                row.add(result.row().get("n"));
                rows.add(row);
            }
        }
        return rows;
    }

    @Test
    void what_is_no_array_and_names_that_are_taken_are_refused() {
        MemorySource source = new MemorySource(
                "Rows",
                RecordType.builder()
                        .field("id", "int64")
                        .field("tags", "[string]?")
                        .build(),
                List.of("id"),
                List.of(),
                List.of(),
                1);
        assertThatThrownBy(() -> Unnest.of(Query.on(source), "id", "e").type())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("unnest names 'id', which is not an array");
        assertThatThrownBy(() -> Unnest.of(Query.on(source), "tags[]", "e").run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("which is not an array");
        assertThatThrownBy(() -> Unnest.of(Query.on(source), "tags", "id").run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("have a field 'id' already");
        assertThat(source.openCount).hasValue(0);
    }
}
