package io.turbidite.ops.sql;

import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.MemorySource;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Three sources with many equal values and nulls, with indexes or without any. */
final class Pets {
    private static final List<String> CITIES = List.of("Rome", "Oslo", "Bonn", "Lyon", "Graz");
    private static final int PETS = 70;
    private static final int OWNERS = 25;

    final MemorySource pets;
    final MemorySource owners;
    final MemorySource cities;

    private Pets(boolean areIndexed) {
        pets = new MemorySource(
                "Pets",
                RecordType.builder()
                        .field("id", "int64")
                        .field("name", "string?")
                        .field("age", "int32?")
                        .field("owner", "int64?")
                        .field("score", "double?")
                        .field("price", "decimal?")
                        .field("born", "date?")
                        .field("ok", "bool?")
                        .build(),
                List.of("id"),
                List.of(),
                areIndexed
                        ? List.of(
                                index("by_name", true, "name"),
                                index("by_age", false, "age"),
                                index("by_owner", true, "owner", "age"),
                                index("by_price", true, "price"))
                        : List.of(),
                3);
        owners = new MemorySource(
                "Owners",
                RecordType.builder()
                        .field("id", "int64")
                        .field("city", "string?")
                        .field("level", "int32?")
                        .build(),
                List.of("id"),
                List.of(),
                areIndexed ? List.of(index("by_city", true, "city")) : List.of(),
                2);
        cities = new MemorySource(
                "Cities",
                RecordType.builder()
                        .field("city", "string")
                        .field("size", "int32?")
                        .build(),
                List.of("city"),
                List.of(),
                List.of(),
                1);
        fill(new SplittableRandom(17));
    }

    static Pets indexed() {
        return new Pets(true);
    }

    static Pets bare() {
        return new Pets(false);
    }

    private static IndexDescription index(String name, boolean isAlwaysValid, String... fields) {
        return new IndexDescription(
                name, IndexDescription.Kind.BTREE, List.of(fields), isAlwaysValid);
    }

    private void fill(SplittableRandom random) {
        for (long id = 0; id < PETS; id++) {
            Map<String, @Nullable Object> row = new HashMap<>();
            row.put("id", id);
            row.put("name", orNull(random, "n" + random.nextInt(9)));
            row.put("age", orNull(random, random.nextInt(-2, 12)));
            row.put("owner", orNull(random, (long) random.nextInt(OWNERS + 5)));
            row.put("score", orNull(random, random.nextInt(40) / 4.0));
            row.put("price", orNull(random, BigDecimal.valueOf(random.nextInt(200), 1)));
            row.put("born", orNull(random, LocalDate.of(2020, 1 + random.nextInt(12), 1)));
            row.put("ok", orNull(random, random.nextBoolean()));
            pets.upsert(row);
        }
        for (long id = 0; id < OWNERS; id++) {
            Map<String, @Nullable Object> row = new HashMap<>();
            row.put("id", id);
            row.put("city", orNull(random, CITIES.get(random.nextInt(CITIES.size()))));
            row.put("level", orNull(random, random.nextInt(5)));
            owners.upsert(row);
        }
        for (String city : CITIES.subList(1, CITIES.size())) {
            Map<String, @Nullable Object> row = new HashMap<>();
            row.put("city", city);
            row.put("size", orNull(random, random.nextInt(6)));
            cities.upsert(row);
        }
    }

    private static @Nullable Object orNull(SplittableRandom random, Object value) {
        return random.nextInt(6) == 0 ? null : value;
    }

    Sql sql() {
        return Sql.on(pets, owners, cities);
    }

    int openCount() {
        return pets.openCount.get() + owners.openCount.get() + cities.openCount.get();
    }
}
