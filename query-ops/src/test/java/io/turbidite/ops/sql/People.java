package io.turbidite.ops.sql;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.MemorySource;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Two small sources with a value of each type, and with nulls. */
final class People {
    final MemorySource people = new MemorySource(
            "People",
            RecordType.builder()
                    .field("id", "int64")
                    .field("name", "string?")
                    .field("age", "int32?")
                    .field("city", "string?")
                    .field("score", "double?")
                    .field("born", "date?")
                    .field("seen", "datetime?")
                    .field("ok", "bool?")
                    .field("price", "decimal?")
                    .field("tags", "[string]?")
                    .field("home", "point?")
                    .field("user", "{lang: string?, rank: int32?}?")
                    .build(),
            List.of("id"),
            List.of(),
            List.of(new IndexDescription(
                    "by_city", IndexDescription.Kind.BTREE, List.of("city"), true)),
            2);

    final MemorySource cities = new MemorySource(
            "Cities",
            RecordType.builder()
                    .field("city", "string")
                    .field("country", "string?")
                    .field("size", "int64?")
                    .build(),
            List.of("city"),
            List.of(),
            List.of(),
            1);

    People() {
        add(1, "Ada", 36, "London", 9.5, "1815-12-10", "2020-01-01T10:00:00Z", true, "10.50");
        add(2, "Bob", 41, "Paris", 7.25, "1980-02-29", "2020-03-01T00:00:00Z", false, "3");
        add(3, "Cem", null, "Berlin", -1.0, "1999-12-31", null, null, "0.01");
        add(4, "Dana", 17, "London", 0.0, null, "2021-06-30T23:59:59.5Z", true, null);
        add(5, null, 41, null, null, "2001-01-01", "2020-01-01T10:00:00Z", false, "10.5");
        add(6, "eve_x", 99, "Rome", 1e10, "1970-01-01", "1969-12-31T23:59:59Z", true, "-2.25");
        add(7, "Fay", 0, "Paris", 7.25, "2024-02-29", "2024-02-29T12:30:00Z", null, "100");
        add(8, "Gil%", -3, "Oslo", 0.1, "1980-02-29", null, false, "7.125");
        city("London", "UK", 8_900_000L);
        city("Paris", "France", 2_100_000L);
        city("Berlin", "Germany", 3_600_000L);
        city("Rome", "Italy", null);
        city("Madrid", "Spain", 3_200_000L);
        city("Lyon", "France", 500_000L);
    }

    private void add(
            long id,
            @Nullable String name,
            @Nullable Integer age,
            @Nullable String city,
            @Nullable Double score,
            @Nullable String born,
            @Nullable String seen,
            @Nullable Boolean ok,
            @Nullable String price) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("id", id);
        row.put("name", name);
        row.put("age", age);
        row.put("city", city);
        row.put("score", score);
        row.put("born", born == null ? null : LocalDate.parse(born));
        row.put("seen", seen == null ? null : Instant.parse(seen));
        row.put("ok", ok);
        row.put("price", price == null ? null : new BigDecimal(price));
        if (id % 2 == 0) {
            row.put("tags", List.of("t" + id, "even"));
        }
        if (id < 7) {
            row.put("home", new Point(id, 10 * id));
        }
        if (id != 3) {
            Map<String, @Nullable Object> user = new LinkedHashMap<>();
            user.put("lang", id > 4 ? "de" : "en");
            user.put("rank", id == 5 ? null : (int) (10 - id));
            row.put("user", user);
        }
        undeclared(id, row);
        people.upsert(row);
    }

    /** Fields that are not declared: of other types from one to the next. */
    private static void undeclared(long id, Map<String, @Nullable Object> row) {
        switch ((int) id) {
            case 1 -> {
                row.put("extra", 30L);
                Map<String, Object> deep = new LinkedHashMap<>();
                deep.put("a", Map.of("b", 5L));
                deep.put("list", List.of(10L, "x"));
                row.put("deep", deep);
            }
            case 2 -> row.put("extra", "41");
            case 3 -> row.put("extra", "abc");
            case 4 -> row.put("extra", 2.5);
            case 5 -> row.put("extra", true);
            case 6 -> row.put("extra", null);
            case 7 -> row.put("deep", "shallow");
            default -> row.put("when", "2024-05-01");
        }
    }

    private void city(String city, String country, @Nullable Long size) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("city", city);
        row.put("country", country);
        row.put("size", size);
        cities.upsert(row);
    }

    Sql sql() {
        return Sql.on(people, cities);
    }
}
