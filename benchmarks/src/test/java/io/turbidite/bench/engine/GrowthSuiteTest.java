package io.turbidite.bench.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.turbidite.bench.peer.RecordSize;
import io.turbidite.bench.report.Report;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.List;

/** Two stores of each engine, one ten times the other; the suite itself compares the answers. */
@Timeout(120)
class GrowthSuiteTest {
    private static final String GROWTH = "get present, the largest store beside the smallest";

    @ParameterizedTest
    @EnumSource
    void each_size_has_its_figures_and_the_largest_is_set_beside_the_smallest(
            RecordSize size, @TempDir Path directory) {
        GrowthSuite.Setting setting =
                new GrowthSuite.Setting(size, List.of(50_000, 5_000), 5_000, 0, 1, 16, 32);
        List<Report> reports = new GrowthSuite(setting, directory).run();
        Report all = reports.get(1);
        for (String engine : new String[] {"Turbidite", "RocksDB"}) {
            for (String of : new String[] {", of 5,000", ", of 50,000"}) {
                for (String work : new String[] {
                    "upsert, us", "get present, us", "get absent, us", "scan, us a record"
                }) {
                    assertThat(all.figure(work + of, engine))
                            .as(work)
                            .isNotNegative()
                            .isFinite();
                }
            }
            // each byte is in the log and in a component
            assertThat(all.figure(Turn.written(size) + ", of 50,000", engine))
                    .as("bytes written by " + engine)
                    .isBetween(1.5, 8.0);
            // as objects: 0 / 0 of a clock of 10 ms is no number, which is like itself alone so
            assertThat(Double.valueOf(all.figure(GROWTH, engine)))
                    .isEqualTo(Double.valueOf(all.figure("get present, us, of 50,000", engine)
                            / all.figure("get present, us, of 5,000", engine)));
        }
        Report aims = reports.getFirst();
        assertThat(Double.valueOf(aims.figure("Turbidite: " + GROWTH, "seen")))
                .isEqualTo(Double.valueOf(all.figure(GROWTH, "Turbidite")));
        assertThat(aims.figure("Turbidite: " + GROWTH, "at most")).isEqualTo(1.3);
        assertThat(aims.works()).hasSize(4);
    }

    @Test
    void one_size_is_no_growth() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new GrowthSuite.Setting(
                        RecordSize.SMALL, List.of(1_000, 1_000), 1, 0, 1, 16, 32))
                .withMessageContaining("[1000]")
                .withMessageContaining("two different ones");
    }
}
