package io.turbidite.ops;

import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;

/** Records whose sums are exact in any order. */
record RandomRecords(SplittableRandom random, int absentOf) {
    static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("text", "string?")
            .field("name", "string?")
            .field("bytes", "bytes?")
            .field("uuid", "uuid?")
            .field("flag", "bool?")
            .field("tiny", "int8?")
            .field("short", "int16?")
            .field("whole", "int32?")
            .field("big", "int64?")
            .field("real", "double?")
            .field("small", "float?")
            .field("price", "decimal?")
            .field("day", "date?")
            .field("hour", "time?")
            .field("at", "datetime?")
            .build();

    private static final double[] REALS = {-0.0, 0.0, -1.5, 2.25, 1e6, 0.5};
    private static final double[] ODD = {Double.NaN, Double.POSITIVE_INFINITY, -0.0};

    Map<String, @Nullable Object> record(long id) {
        Map<String, @Nullable Object> record = new LinkedHashMap<>();
        record.put("id", id);
        record.put("text", String.valueOf((char) ('a' + random.nextInt(4))).repeat(few(11)));
        record.put("name", "a name that is long " + random.nextInt(5));
        record.put("bytes", bytes());
        record.put("uuid", new UUID(random.nextInt(2), random.nextInt(2)));
        record.put("flag", random.nextBoolean());
        record.put("tiny", (byte) random.nextInt(-3, 4));
        record.put("short", (short) random.nextInt(-300, 300));
        record.put("whole", random.nextInt(-50, 50));
        record.put("big", random.nextInt(400) == 0 ? 1L << 40 : random.nextLong(-4, 4));
        record.put("real", REALS[random.nextInt(REALS.length)]);
        record.put("small", (float) ODD[random.nextInt(ODD.length)]);
        record.put("price", BigDecimal.valueOf(random.nextInt(40), 1));
        record.put("day", LocalDate.ofEpochDay(random.nextInt(5)));
        record.put("hour", LocalTime.ofSecondOfDay(random.nextInt(5)));
        record.put("at", Instant.ofEpochSecond(random.nextInt(-2, 2)));
        record.keySet().removeIf(field -> !field.equals("id") && random.nextInt(absentOf) == 0);
        record.replaceAll((field, value) ->
                !field.equals("id") && random.nextInt(absentOf) == 0 ? null : value);
        if (random.nextInt(10) == 0) {
            record.put("undeclared", "x".repeat(few(9)));
        }
        return record;
    }

    private int few(int bound) {
        return random.nextInt(1 + random.nextInt(bound));
    }

    /** Some that differ in zeros alone, and some on both sides of what words hold. */
    private byte[] bytes() {
        byte[] bytes = new byte[few(19)];
        if (bytes.length > 0) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(2);
        }
        return bytes;
    }
}
