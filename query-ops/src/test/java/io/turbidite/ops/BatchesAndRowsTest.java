package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Field;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/**
 * Random queries over a source whose records come in runs, which are taken by batches, and over the
 * same one whose records come one by one: the answers are the same, failures and counts of
 * operators included.
 */
class BatchesAndRowsTest {
    static final List<String> NAMES = RandomRecords.TYPE.fields().stream()
            .map(Field::name)
            .filter(name -> !name.equals("id"))
            .toList();
    private static final List<String> CONDITIONS = List.of(
            "whole > 10",
            "whole >= -5 && whole < 40",
            "real > 0.0",
            "real <= -0.0",
            "small < 3.5",
            "text = 'b'",
            "text != 'b'",
            "text > 'a'",
            "name < 'a name that is long 3'",
            "whole = null",
            "whole != null",
            "uuid != null",
            "flag = true",
            "tiny = 1 || tiny = 2 || tiny = 3 || tiny = -1",
            "text = 'a' || text = 'b' || text = 'c' || text = 'd' || text = ''",
            "whole > 5 || real > 1.0",
            "whole + tiny > 20",
            "price > 1.5",
            "day > '1970-01-03'",
            "id >= 20");
    private static final MathContext TOLERANCE = new MathContext(9);
    private static final int[] ABSENT_OF = {2, 8, 200};
    static final List<String> NUMBERS = List.of("whole", "tiny", "short", "big", "real", "small");

    @Test
    void answers_are_the_same() {
        answersOfSeeds(
                "BatchesAndRowsTest#answers_are_the_same",
                Tier.count(40, 600, 20_000),
                BatchesAndRowsTest::run);
    }

    /** Of so many seeds; most give rows, and some fail. */
    static void answersOfSeeds(String test, int count, LongFunction<List<String>> run) {
        long first = Seeds.of(test);
        int rows = 0;
        int failures = 0;
        for (int i = 0; i < (Seeds.isReplay() ? 1 : count); i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            try {
                List<String> answer = run.apply(seed);
                rows += answer.size();
                failures += answer.getFirst().startsWith("failed") ? 1 : 0;
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
        }
        if (!Seeds.isReplay()) {
            assertThat(rows).isGreaterThan(2 * count);
            assertThat(failures).as("queries that fail").isBetween(1, count / 2);
        }
    }

    private static List<String> run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        MemorySource source = new MemorySource(
                RandomRecords.TYPE, List.of("id"), List.of(), List.of(), 1 + random.nextInt(3));
        RandomRecords made = new RandomRecords(random, ABSENT_OF[random.nextInt(ABSENT_OF.length)]);
        // of some sources so many that what is not among the first few is dropped by its first
        // field
        for (long id = random.nextInt(random.nextInt(8) == 0 ? 2_500 : 600); id >= 0; id--) {
            source.upsert(made.record(id));
        }
        List<String> answer = List.of("failed: nothing was asked");
        for (int i = 0; i < 4; i++) {
            long asked = random.nextLong();
            source.runRecordsMax = 1;
            List<String> byRows = answer(query(source, new SplittableRandom(asked), seed));
            source.runRecordsMax = 1 + random.nextInt(100);
            answer = answer(query(source, new SplittableRandom(asked), seed));
            assertThat(answer)
                    .as(() -> query(source, new SplittableRandom(asked), seed)
                            .explain()
                            .toString())
                    .isEqualTo(byRows);
            assertThat(source.openCount).hasValue(0);
        }
        return answer;
    }

    /** Rows, and what operators counted; or the failure. */
    static List<String> answer(Query query) {
        List<String> rows = new ArrayList<>();
        try (QueryResult result = query.run()) {
            for (Map<String, @Nullable Object> row : result.toList()) {
                rows.add(shown(row));
            }
            result.explain()
                    .operators()
                    .forEach(operator -> rows.add(operator.name() + ": " + operator.actualRows()));
        } catch (InvalidRequestException e) {
            rows.clear();
            rows.add("failed: " + e.getMessage());
        }
        return rows;
    }

    private static String shown(Map<String, @Nullable Object> row) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>(row);
        values.replaceAll((_, value) -> switch (value) {
            case byte[] bytes -> Arrays.toString(bytes);
            // states that meet by spilling or in several threads are rounded in other places
            case Double number
            when Double.isFinite(number) && number != 0 -> new BigDecimal(number).round(TOLERANCE);
            case null, default -> value;
        });
        return values.toString();
    }

    private static Query query(MemorySource source, SplittableRandom random, long seed) {
        Query query = Query.on((Source) source).with(options(random, seed));
        for (int i = random.nextInt(3); i > 0; i--) {
            query.where(CONDITIONS.get(random.nextInt(CONDITIONS.size())));
        }
        if (random.nextInt(2) == 0) {
            return order(query, random);
        }
        List<String> by = new ArrayList<>();
        if (random.nextInt(4) == 0) {
            // so many groups that they spill
            by.add("id");
        }
        for (int i = random.nextInt(4); i > 0; i--) {
            by.add(any(NAMES, random));
        }
        List<String> distinct = by.stream().distinct().toList();
        query.groupBy(distinct.toArray(String[]::new));
        List<Aggregate> aggregates = new ArrayList<>();
        for (int i = random.nextInt(distinct.isEmpty() ? 1 : 0, 5); i > 0; i--) {
            aggregates.add(aggregate(random).as("a" + i));
        }
        return query.aggregate(aggregates.toArray(Aggregate[]::new));
    }

    private static Query order(Query query, SplittableRandom random) {
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            String by = i == 1 && random.nextBoolean() ? "id" : any(NAMES, random);
            query.orderBy(
                    by,
                    random.nextBoolean() ? Order.ASC : Order.DESC,
                    random.nextBoolean() ? Nulls.FIRST : Nulls.LAST);
        }
        if (random.nextInt(3) == 0) {
            query.select("id", any(NAMES, random));
        }
        return random.nextInt(4) == 0 ? query : query.limit(random.nextInt(1, 1 + few(random)));
    }

    private static int few(SplittableRandom random) {
        return random.nextInt(4) == 0 ? 300 : 40;
    }

    private static Aggregate aggregate(SplittableRandom random) {
        return switch (random.nextInt(11)) {
            case 0 -> Aggregate.count();
            case 1 -> Aggregate.count(any(NAMES, random));
            case 2 -> Aggregate.sum(any(NUMBERS, random));
            case 3 -> Aggregate.avg(any(NUMBERS, random));
            case 4 -> Aggregate.min(any(NUMBERS, random));
            case 5 -> Aggregate.max(any(NUMBERS, random));
            case 6 -> Aggregate.sum("whole * tiny");
            // overflows now and then
            case 7 -> Aggregate.sum("big * big");
            case 8 -> Aggregate.variance(any(NUMBERS, random));
            case 9 -> Aggregate.standardDeviation(any(NUMBERS, random));
            default -> Aggregate.max(any(NAMES, random));
        };
    }

    static String any(List<String> names, SplittableRandom random) {
        return names.get(random.nextInt(names.size()));
    }

    static RunOptions options(SplittableRandom random, long seed) {
        RunOptions options = RunOptions.defaults();
        if (random.nextInt(3) == 0) {
            options = options.withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                    .withSpill(new SimDisk(seed, Profile.STRICT), "spill");
        }
        return random.nextInt(4) == 0
                ? options.withTasks(new SimTasks(seed, new SimClock())).withSideBySideRows(0)
                : options;
    }
}
