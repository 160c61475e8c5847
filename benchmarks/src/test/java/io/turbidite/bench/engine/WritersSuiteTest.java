package io.turbidite.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.bench.report.Report;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

/** One, two and four threads write all tweets; the suite itself counts what is there. */
@Timeout(60)
class WritersSuiteTest {
    @Test
    void each_count_of_writers_has_its_figure(@TempDir Path directory) {
        Report report = new WritersSuite(8_000, 1, directory).run();
        for (String writers : new String[] {"one writer", "two writers", "four writers"}) {
            assertThat(report.figure("upsert, us", writers))
                    .as(writers)
                    .isPositive()
                    .isFinite();
        }
    }
}
