package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.UUID;

/** Random aggregates over random records, in memory and through runs, against a naive twin. */
class AggregateModelTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("key", "string?")
            .field("kind", "int8?")
            .field("real", "double?")
            .field("whole", "int32?")
            .field("big", "int64?")
            .field("small", "float?")
            .field("price", "decimal?")
            .field("took", "duration?")
            .field("wild", "double?")
            .field("text", "string?")
            .field("bytes", "bytes?")
            .field("uuid", "uuid?")
            .field("at", "datetime?")
            .build();
    private static final List<String> NUMBERS =
            List.of("real", "whole", "big", "small", "price", "took");
    private static final List<String> ALL = List.of(
            "key", "kind", "real", "whole", "big", "small", "price", "took", "wild", "text",
            "bytes", "uuid", "at");

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    @Test
    void every_answer_is_the_naive_one() {
        String test = "AggregateModelTest#every_answer_is_the_naive_one";
        long first = Seeds.of(test);
        int count = Tier.count(30, 300, 20_000);
        int rows = 0;
        for (int i = 0; i < (Seeds.isReplay() ? 1 : count); i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            try {
                rows += run(seed);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
        }
        assertThat(rows).isGreaterThan(count);
    }

    private int run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        MemorySource source =
                new MemorySource(TYPE, List.of("id"), List.of(), List.of(), 1 + random.nextInt(4));
        List<Map<String, @Nullable Object>> records = new ArrayList<>();
        for (int i = random.nextInt(400); i > 0; i--) {
            Map<String, @Nullable Object> record = record(random, i);
            records.add(record);
            source.upsert(record);
        }
        List<String> groupBy = new ArrayList<>();
        for (String field : List.of("key", "kind", "wild", "price")) {
            if (random.nextInt(3) == 0) {
                groupBy.add(field);
            }
        }
        List<Aggregate> aggregates = aggregates(random);
        long least = random.nextInt(3) == 0 ? random.nextInt(400) : 0;
        records.removeIf(record -> (long) Objects.requireNonNull(record.get("id")) < least);
        List<Map<String, @Nullable Object>> expected =
                NaiveAggregates.rows(TYPE, records, groupBy, aggregates);
        Query query = Query.on((Source) source)
                .groupBy(groupBy.toArray(String[]::new))
                .aggregate(aggregates.toArray(Aggregate[]::new))
                .with(options(random, seed));
        if (least > 0) {
            query.where(Predicates.range("id", least, null));
        }
        try (QueryResult result = query.run()) {
            List<Map<String, @Nullable Object>> actual = result.toList();
            assertThat(actual).as("%s by %s", aggregates, groupBy).hasSameSizeAs(expected);
            for (int i = 0; i < expected.size(); i++) {
                assertThat(NaiveAggregates.isAsExpected(actual.get(i), expected.get(i)))
                        .as("%s is %s", actual.get(i), expected.get(i))
                        .isTrue();
            }
        }
        assertThat(source.openCount).hasValue(0);
        assertThat(disk.files()).isEmpty();
        return expected.size();
    }

    private static List<Aggregate> aggregates(SplittableRandom random) {
        List<Aggregate> aggregates = new ArrayList<>();
        for (int i = random.nextInt(1, 7); i > 0; i--) {
            Aggregate aggregate = switch (random.nextInt(13)) {
                case 0 -> Aggregate.count();
                case 1 -> Aggregate.count(any(ALL, random));
                case 2, 3 -> Aggregate.countDistinct(any(ALL, random));
                case 4 -> Aggregate.min(any(ALL, random));
                case 5 -> Aggregate.max(any(ALL, random));
                case 6 -> Aggregate.sum(any(NUMBERS, random));
                case 7 -> Aggregate.avg(any(NUMBERS, random));
                case 9 -> Aggregate.median(any(NUMBERS.subList(0, 5), random));
                case 10 -> listed(Aggregate.Function.PERCENTILE_DISC, any(ALL, random), random);
                case 11 -> listed(Aggregate.Function.ARRAY_AGG, any(ALL, random), random);
                case 12 -> listed(Aggregate.Function.STRING_AGG, "text", random);
                default -> {
                    String field = any(NUMBERS.subList(0, 5), random);
                    yield random.nextBoolean()
                            ? Aggregate.variance(field)
                            : Aggregate.standardDeviation(field);
                }
            };
            aggregates.add(aggregate.as("a" + i));
        }
        return aggregates;
    }

    private static Aggregate listed(
            Aggregate.Function function, String field, SplittableRandom random) {
        boolean isPercentile = function == Aggregate.Function.PERCENTILE_DISC;
        String by = isPercentile ? field : "id";
        return Aggregate.of(function, field)
                .with(new Aggregate.Listing(
                        List.of(new Aggregate.Listing.By(
                                by, random.nextBoolean(), random.nextBoolean())),
                        !isPercentile && random.nextBoolean(),
                        !isPercentile && random.nextBoolean() ? "whole > 0" : null,
                        "; ",
                        BigDecimal.valueOf(random.nextInt(0, 101), 2)));
    }

    private static String any(List<String> fields, SplittableRandom random) {
        return fields.get(random.nextInt(fields.size()));
    }

    private static Map<String, @Nullable Object> record(SplittableRandom random, long id) {
        Map<String, @Nullable Object> record = new LinkedHashMap<>();
        record.put("id", id);
        // one key has half of all records
        record.put("key", random.nextBoolean() ? "half" : "k" + random.nextInt(60));
        record.put("kind", (byte) random.nextInt(-3, 4));
        record.put("real", random.nextInt(-4_000, 4_000) / 4.0);
        record.put("whole", random.nextInt());
        record.put("big", random.nextLong() >> random.nextInt(10, 64));
        record.put("small", random.nextInt(-40, 40) / 8f);
        record.put(
                "price", BigDecimal.valueOf(random.nextInt(-9_999, 9_999), random.nextInt(-2, 4)));
        record.put(
                "took", Duration.ofNanos(random.nextLong(-4_000_000_000L, 9_000_000_000L) * 1_000));
        double[] wild = {Double.NaN, -0.0, 0.0, Double.POSITIVE_INFINITY, -1.5, Double.MIN_VALUE};
        record.put("wild", wild[random.nextInt(wild.length)]);
        record.put("text", "é".repeat(random.nextInt(1 << random.nextInt(8))) + random.nextInt(9));
        byte[] bytes = new byte[random.nextInt(4)];
        random.nextBytes(bytes);
        record.put("bytes", bytes);
        record.put("uuid", new UUID(random.nextInt(3), random.nextInt(3)));
        record.put("at", Instant.ofEpochSecond(random.nextInt()));
        record.keySet().removeIf(field -> !field.equals("id") && random.nextInt(6) == 0);
        return record;
    }

    private RunOptions options(SplittableRandom random, long seed) {
        RunOptions options = RunOptions.defaults();
        if (random.nextBoolean()) {
            options = options.withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                    .withSpill(disk, "spill");
        }
        return random.nextInt(3) == 0
                ? options.withTasks(new SimTasks(seed, new SimClock())).withSideBySideRows(0)
                : options;
    }

    // ---- more than the memory -------------------------------------------------------------------

    private static final int MANY = 12_000;

    /** About twenty times the least memory of a query: half of it is one key, the rest groups. */
    private MemorySource many(List<Map<String, @Nullable Object>> records) {
        MemorySource source = new MemorySource(TYPE, List.of("id"), List.of(), List.of(), 2);
        SplittableRandom random = new SplittableRandom(5);
        for (long i = 0; i < MANY; i++) {
            Map<String, @Nullable Object> record = new LinkedHashMap<>();
            record.put("id", i);
            record.put("key", i % 2 == 0 ? "half" : "key number %05d".formatted(i));
            record.put("whole", random.nextInt());
            record.put("text", "text %d".formatted(random.nextInt()));
            records.add(record);
            source.upsert(record);
        }
        return source;
    }

    private static Query large(MemorySource source) {
        return Query.on((Source) source)
                .groupBy("key")
                .aggregate(
                        Aggregate.sum("whole"),
                        Aggregate.max("text"),
                        Aggregate.countDistinct("text"));
    }

    private RunOptions small() {
        return RunOptions.defaults()
                .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                .withSpill(disk, "spill");
    }

    @Test
    void lists_spill_and_a_group_beyond_the_bound_is_told() {
        List<Map<String, @Nullable Object>> records = new ArrayList<>();
        MemorySource source = many(records);
        List<Aggregate> lists = List.of(
                Aggregate.array("whole")
                        .with(new Aggregate.Listing(
                                List.of(new Aggregate.Listing.By("id", true, false)),
                                false,
                                null,
                                "",
                                BigDecimal.ONE)),
                Aggregate.median("whole"));
        try (QueryResult result = Query.on((Source) source)
                .groupBy("key")
                .aggregate(lists.toArray(Aggregate[]::new))
                .with(small())
                .run()) {
            List<Map<String, @Nullable Object>> expected =
                    NaiveAggregates.rows(TYPE, records, List.of("key"), lists);
            List<Map<String, @Nullable Object>> actual = result.toList();
            assertThat(actual).hasSameSizeAs(expected);
            for (int i = 0; i < expected.size(); i++) {
                assertThat(NaiveAggregates.isAsExpected(actual.get(i), expected.get(i)))
                        .isTrue();
            }
        }
        assertThat(disk.files()).isEmpty();
        String expression = "repeat(text, 100)";
        assertThatThrownBy(() -> {
                    try (QueryResult result = Query.on((Source) source)
                            .aggregate(Aggregate.of(Aggregate.Function.ARRAY_AGG, expression)
                                    .as("x"))
                            .run()) {
                        result.toList();
                    }
                })
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(
                        "array_agg of 'repeat(text, 100)' needs more than 16,777,216");
    }

    @Test
    void twenty_times_the_memory_comes_out_right_one_key_being_half_of_it() {
        List<Map<String, @Nullable Object>> records = new ArrayList<>();
        MemorySource source = many(records);
        List<Map<String, @Nullable Object>> expected = NaiveAggregates.rows(
                TYPE,
                records,
                List.of("key"),
                List.of(
                        Aggregate.sum("whole"),
                        Aggregate.max("text"),
                        Aggregate.countDistinct("text")));
        disk.clearFaults();
        FaultScript writes =
                disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.WRITE).call(0));
        try (QueryResult result = large(source).with(small()).run()) {
            assertThat(result.toList()).isEqualTo(expected);
        }
        assertThat(writes.matchCount()).as("runs of 32 KiB").isGreaterThan(20);
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_failure_at_any_record_leaves_nothing() {
        MemorySource source = many(new ArrayList<>());
        for (int step = 0; step < 50; step++) {
            source.failAfterMoves = source.moveCount.get() + step * step * 4;
            try (QueryResult result = large(source).with(small()).run()) {
                assertThatThrownBy(result::next).isInstanceOf(CorruptionException.class);
                assertThat(result.next()).isFalse();
            }
            assertThat(source.openCount).hasValue(0);
            assertThat(disk.files()).isEmpty();
            assertThat(disk.openHandles()).isEmpty();
        }
    }

    @Test
    void a_failure_of_the_disk_at_any_step_leaves_nothing() {
        MemorySource source = many(new ArrayList<>());
        for (OperationKind kind :
                List.of(OperationKind.CREATE, OperationKind.WRITE, OperationKind.READ)) {
            FaultScript counting =
                    disk.fault(FaultScript.with(Fault.EIO).on(kind).call(0));
            read(source);
            disk.clearFaults();
            long stride = Math.max(1, counting.matchCount() / 12);
            for (int call = 1; call <= counting.matchCount(); call += (int) stride) {
                disk.fault(FaultScript.with(Fault.EIO).on(kind).call(call));
                assertThatThrownBy(() -> read(source))
                        .as("%s %d", kind, call)
                        .isInstanceOf(StorageIoException.class);
                disk.clearFaults();
                assertThat(source.openCount).hasValue(0);
                assertThat(disk.files()).isEmpty();
                assertThat(disk.openHandles()).isEmpty();
            }
        }
    }

    private void read(MemorySource source) {
        try (QueryResult result = large(source).with(small()).run()) {
            assertThat(result.count()).isEqualTo(MANY / 2 + 1);
        }
    }
}
