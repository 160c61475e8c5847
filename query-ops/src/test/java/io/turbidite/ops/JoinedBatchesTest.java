package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Random groups and counts of joins over sources whose records come in runs, which are taken by
 * batches, and over the same ones whose records come one by one: the answers are the same, failures
 * and counts of operators included.
 */
class JoinedBatchesTest {
    private static final List<String> NAMES = BatchesAndRowsTest.NAMES;
    private static final RecordType OTHER_TYPE = otherType();

    /** Fields of both sides whose values can be equal; each list is of one kind of keys. */
    private static final List<List<String>> KEYS = List.of(
            List.of("text", "o_text"),
            List.of("bytes", "o_bytes"),
            List.of("name", "o_name"),
            List.of("uuid", "o_uuid"),
            List.of("tiny", "o_short"),
            List.of("big", "o_tiny"),
            List.of("whole", "o_big"),
            List.of("whole", "o_whole"),
            List.of("id", "o_id"),
            List.of("id", "o_whole"),
            List.of("day", "o_day"),
            List.of("hour", "o_hour"),
            List.of("at", "o_at"),
            // these have no words
            List.of("flag", "o_flag"),
            List.of("real", "o_real"),
            List.of("price", "o_price"));

    private static final List<String> CONDITIONS = List.of(
            "whole > o_tiny",
            "whole + o_whole > 20",
            "text = o_text or tiny > 0",
            // overflows now and then
            "big * 8388608 * o_whole < 5",
            "o_name is not null");

    private static RecordType otherType() {
        RecordType.Builder builder = RecordType.builder();
        RandomRecords.TYPE
                .declared()
                .forEach(field -> builder.field(
                        "o_" + field.name(),
                        field.kind().label() + (field.name().equals("id") ? "" : "?")));
        return builder.build();
    }

    @Test
    void answers_are_the_same() {
        BatchesAndRowsTest.answersOfSeeds(
                "JoinedBatchesTest#answers_are_the_same",
                Tier.count(40, 300, 20_000),
                JoinedBatchesTest::run);
    }

    private static List<String> run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        MemorySource source = new MemorySource(
                RandomRecords.TYPE, List.of("id"), List.of(), List.of(), 1 + random.nextInt(3));
        MemorySource other = new MemorySource(
                OTHER_TYPE, List.of("o_id"), List.of(), List.of(), 1 + random.nextInt(3));
        RandomRecords made = new RandomRecords(random, 8);
        boolean isLarge = random.nextBoolean();
        for (long id = random.nextInt(isLarge ? 600 : 40); id > 0; id--) {
            source.upsert(made.record(id));
        }
        for (long id = random.nextInt(isLarge ? 40 : 600); id > 0; id--) {
            other.upsert(renamed(made.record(id)));
        }
        List<String> answer = List.of("failed: nothing was asked");
        for (int i = 0; i < 4; i++) {
            long asked = random.nextLong();
            source.runRecordsMax = 1;
            other.runRecordsMax = 1;
            List<String> byRows = BatchesAndRowsTest.answer(
                    query(source, other, new SplittableRandom(asked), seed));
            source.runRecordsMax = 1 + random.nextInt(100);
            other.runRecordsMax = 1 + random.nextInt(100);
            answer = BatchesAndRowsTest.answer(
                    query(source, other, new SplittableRandom(asked), seed));
            assertThat(answer)
                    .as(() -> query(source, other, new SplittableRandom(asked), seed)
                            .explain()
                            .toString())
                    .isEqualTo(byRows);
            assertThat(source.openCount).hasValue(0);
            assertThat(other.openCount).hasValue(0);
        }
        return answer;
    }

    private static Map<String, @Nullable Object> renamed(Map<String, @Nullable Object> record) {
        Map<String, @Nullable Object> other = new LinkedHashMap<>();
        record.forEach((name, value) -> other.put("o_" + name, value));
        return other;
    }

    private static Query query(
            MemorySource source, MemorySource other, SplittableRandom random, long seed) {
        Query left = Query.on((Source) source);
        if (random.nextInt(3) == 0) {
            left.where("whole > -20");
        }
        Query right = Query.on((Source) other);
        boolean isTurned = random.nextBoolean();
        Join join = isTurned ? Join.inner(right, left) : Join.inner(left, right);
        for (int i = random.nextInt(5) == 0 ? 2 : 1; i > 0; i--) {
            List<String> key = KEYS.get(random.nextInt(KEYS.size()));
            String one = key.getFirst();
            join = isTurned ? join.on(key.getLast(), one) : join.on(one, key.getLast());
        }
        if (random.nextInt(4) == 0) {
            join = join.where(CONDITIONS.get(random.nextInt(CONDITIONS.size())));
        }
        Query query = Query.on(join).with(BatchesAndRowsTest.options(random, seed));
        if (random.nextInt(6) == 0) {
            return query.count();
        }
        List<String> by = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            by.add(any(NAMES, random));
        }
        if (random.nextInt(4) == 0) {
            by.add(random.nextBoolean() ? "id" : "o_id");
        }
        List<String> distinct = by.stream().distinct().toList();
        query.groupBy(distinct.toArray(String[]::new));
        List<Aggregate> aggregates = new ArrayList<>();
        for (int i = random.nextInt(distinct.isEmpty() ? 1 : 0, 5); i > 0; i--) {
            aggregates.add(aggregate(random).as("a" + i));
        }
        return query.aggregate(aggregates.toArray(Aggregate[]::new));
    }

    private static Aggregate aggregate(SplittableRandom random) {
        List<String> numbers = BatchesAndRowsTest.NUMBERS;
        return switch (random.nextInt(9)) {
            case 0 -> Aggregate.count();
            case 1 -> Aggregate.count(any(NAMES, random));
            case 2, 3 -> Aggregate.sum(any(numbers, random));
            case 4 -> Aggregate.avg(any(numbers, random));
            case 5 -> Aggregate.min(any(numbers, random));
            case 6 -> Aggregate.max(any(numbers, random));
            case 7 -> Aggregate.variance(any(numbers, random));
            // now and then one that takes no columns
            default -> Aggregate.max(any(NAMES, random));
        };
    }

    /** A field of either side. */
    private static String any(List<String> names, SplittableRandom random) {
        return BatchesAndRowsTest.any(
                Stream.concat(names.stream(), names.stream().map(name -> "o_" + name))
                        .toList(),
                random);
    }
}
