package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

/** Random queries over random sources, by every way in, against a naive evaluation. */
class QueryModelTest {
    private static final int SOURCE_COUNT = Tier.count(12, 60, 20_000);
    private static final int QUERY_COUNT = 40;

    @Test
    void every_way_in_gives_the_naive_answer() {
        String test = "QueryModelTest#every_way_in_gives_the_naive_answer";
        long first = Seeds.of(test);
        int answered = 0;
        int rows = 0;
        int inOrder = 0;
        for (int i = 0; i < (Seeds.isReplay() ? 1 : SOURCE_COUNT); i++) {
            long seed = Seeds.isReplay() ? first : Seeds.mix(first, i);
            try {
                int[] counts = run(seed);
                answered += counts[0];
                rows += counts[1];
                inOrder += counts[2];
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
        }
        // the generator must not have drifted into queries that answer nothing
        if (!Seeds.isReplay()) {
            assertThat(answered).isGreaterThan(SOURCE_COUNT * QUERY_COUNT / 2);
            assertThat(rows).isGreaterThan(answered);
            assertThat(inOrder).isGreaterThan(SOURCE_COUNT / 6);
        }
    }

    private static int[] run(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        RandomSource made = new RandomSource(random);
        MemorySource source = made.source();
        int answered = 0;
        int rows = 0;
        int inOrder = 0;
        for (int i = 0; i < QUERY_COUNT; i++) {
            source.estimateFactor = Math.pow(10, random.nextInt(-2, 3));
            NaiveQuery asked = made.query();
            SimDisk disk = new SimDisk(seed, Profile.STRICT);
            RunOptions options = options(random, disk, seed);
            for (String access : made.accesses()) {
                try (QueryResult result =
                        asked.query(source, access).with(options).run()) {
                    NaiveQuery.Answer answer = NaiveQuery.Answer.read(result);
                    asked.check(source, access, answer);
                    checkPrepared(asked, source, access, options, answer);
                    answered++;
                    rows += answer.rows().size();
                    inOrder += result.explain().access().endsWith("key order, then fetch") ? 1 : 0;
                } catch (InvalidRequestException e) {
                    assertThat(e).hasMessageContaining("has no equality or range");
                }
                assertThat(source.openCount).as("left open by %s", asked).hasValue(0);
                if (disk.exists("spill")) {
                    assertThat(disk.list("spill")).as("runs left by %s", asked).isEmpty();
                }
                assertThat(disk.openHandleCount()).isZero();
            }
        }
        return new int[] {answered, rows, inOrder};
    }

    /**
     * Prepared and run with other values before, it gives row for row what it gives when it is
     * asked.
     */
    private static void checkPrepared(
            NaiveQuery asked,
            MemorySource source,
            String access,
            RunOptions options,
            NaiveQuery.Answer answer) {
        PreparedQuery prepared = asked.prepared(source, access, options);
        @Nullable Object[] values = asked.values();
        assertThat(prepared.parameters()).hasSize(values.length);
        try (QueryResult other = prepared.run(new Object[values.length])) {
            other.next();
        }
        try (QueryResult result = prepared.run(values)) {
            assertThat(NaiveQuery.Answer.read(result).rows())
                    .as("prepared: %s", asked)
                    .isEqualTo(answer.rows());
        }
    }

    private static RunOptions options(SplittableRandom random, SimDisk disk, long seed) {
        RunOptions options = RunOptions.defaults();
        if (random.nextBoolean()) {
            options = options.withKeyBatchBytes(4 << 10);
        }
        if (random.nextBoolean()) {
            options = options.withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                    .withSpill(disk, "spill");
        }
        if (random.nextInt(3) == 0) {
            options = options.withTasks(new SimTasks(seed, new SimClock())).withSideBySideRows(0);
        }
        return options;
    }
}
