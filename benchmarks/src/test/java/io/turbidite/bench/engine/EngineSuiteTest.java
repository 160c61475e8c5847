package io.turbidite.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.bench.report.Report;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

/** All engines do the works of a table, of tweets and of small records. */
@Timeout(120)
class EngineSuiteTest {
    private static final int UPSERTS = 4_000;

    /** The last table's number: small records. */
    private static final int SMALL = EngineSuite.scenarioCount();

    @Test
    @LeaksOnPurpose("Hyracks keeps the threads of its scheduler")
    void small_records_have_the_figures_that_tweets_have(@TempDir Path directory) {
        List<Report> reports = new EngineSuite(UPSERTS, 0, 1, Durability.PROCESS, directory)
                .run(List.of(1, SMALL));
        Report tweets = reports.get(0);
        Report small = reports.get(1);
        assertThat(tweets.table()).contains("4,000 a round, about 500 bytes");
        assertThat(small.table()).contains("4,000 a round, 72 bytes");
        for (String engine : new String[] {"Turbidite", "RocksDB", "Hyracks"}) {
            for (String work : new String[] {"upsert, us", "get present, us"}) {
                assertThat(tweets.figure(work, engine)).as(work).isPositive().isFinite();
                assertThat(small.figure(work, engine)).as(work).isPositive().isFinite();
            }
            // with its index a store holds what it was given, and not many times that
            assertThat(tweets.figure("disk, bytes / byte of live tweets", engine))
                    .as(engine)
                    .isBetween(1.0, 1.6);
            assertThat(small.figure("disk, bytes / byte of live records", engine))
                    .as(engine)
                    .isBetween(1.0, 4.0);
        }
    }
}
