package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Groups of batches have the memory and the sums that those of rows have. */
class GroupedBatchesTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("text", "string?")
            .field("real", "double")
            .build();

    /** Runs of 1, 2, 3, … records, so that some go by rows and others by batches. */
    private static final int MIXED_RUNS = 9;

    private final MemorySource source =
            new MemorySource(TYPE, List.of("id"), List.of(), List.of(), 1);

    private void upsert(long id, String text, double real) {
        source.upsert(Map.of("id", id, "text", text, "real", real));
    }

    private Query query(RunOptions options) {
        return Query.on((Source) source).with(options);
    }

    private static String outcome(Query query) {
        try (QueryResult result = query.run()) {
            return result.toList().size() + " groups";
        } catch (InvalidRequestException e) {
            return "failed: " + String.valueOf(e.getMessage()).replaceAll("^[\\d,]+", "");
        }
    }

    private String byRows(Query query) {
        source.runRecordsMax = 1;
        return outcome(query);
    }

    private String byBatches(Query query) {
        source.runRecordsMax = 200;
        return outcome(query);
    }

    @Test
    void without_a_place_to_spill_as_many_groups_fit_as_by_rows() {
        RunOptions options = RunOptions.defaults().withMemoryBytesMax(256 << 10);
        int next = 0;
        int failures = 0;
        for (int groups = 256; groups <= 8_192; groups *= 2) {
            for (int more = -1; more <= 1; more++) {
                for (; next < groups + more; next++) {
                    upsert(next, "", next);
                }
                for (Query query : List.of(
                        query(options).groupBy("id").aggregate(Aggregate.count()),
                        query(options).groupBy("id").aggregate(Aggregate.max("real")))) {
                    String expected = byRows(query);
                    assertThat(byBatches(query)).as("%d groups", next).isEqualTo(expected);
                    failures += expected.startsWith("failed") ? 1 : 0;
                }
            }
        }
        assertThat(failures).isBetween(3, 30);
    }

    @Test
    void a_long_key_fits_where_it_does_by_rows() {
        for (int id = 0; id < 300; id++) {
            upsert(id, "short " + id % 40, id);
        }
        RunOptions options = RunOptions.defaults()
                .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                .withSpill(new SimDisk(1, Profile.STRICT), "spill");
        // what is taken first comes as a batch, not as a row of a short run
        Query query =
                query(options).where("real >= 6.0").groupBy("text").aggregate(Aggregate.count());
        int fit = 0;
        int bytes = 25_000;
        for (; bytes < 34_000; bytes += 250) {
            upsert(250, "x".repeat(bytes), 250);
            String expected = byRows(query);
            assertThat(byBatches(query)).as("%d bytes", bytes).isEqualTo(expected);
            fit += expected.equals("41 groups") ? 1 : 0;
        }
        assertThat(fit).isBetween(1, 35);
    }

    @Test
    void sums_of_doubles_do_not_depend_on_how_runs_fall() {
        double[] reals = {1e308, -1e308, 1e-300, 3, 1e17, 0.1};
        SplittableRandom random = new SplittableRandom(5);
        Aggregate[] aggregates = {
            Aggregate.sum("real").as("sum"),
            Aggregate.avg("real").as("mean"),
            Aggregate.variance("real").as("var"),
            Aggregate.standardDeviation("real").as("dev"),
        };
        for (int round = 0; round < 40; round++) {
            // at the end there are about two of each group
            int groups = 1 + random.nextInt(60);
            for (int id = 0; id < 120; id++) {
                double real = reals[random.nextInt(reals.length)];
                upsert(id, random.nextInt(groups) + " is the group", real);
            }
            for (Query query : List.of(
                    query(RunOptions.defaults()).aggregate(aggregates),
                    query(RunOptions.defaults()).groupBy("text").aggregate(aggregates))) {
                source.runRecordsMax = 1;
                String expected = query.run().toList().toString();
                source.runRecordsMax = MIXED_RUNS;
                assertThat(query.run().toList()).hasToString(expected);
            }
        }
    }

    @Test
    void equal_numbers_of_any_size_have_no_variance() {
        upsert(1, "", 1e200);
        upsert(2, "", 1e200);
        for (Query query : List.of(query(RunOptions.defaults()), query(RunOptions.defaults()))) {
            Map<String, Object> row = Map.of("variance", 0.0);
            query.aggregate(Aggregate.variance("real").as("variance"));
            assertThat(query.run().toList().toString()).isEqualTo(List.of(row).toString());
            source.runRecordsMax = 1;
        }
    }
}
