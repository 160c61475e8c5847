package io.turbidite.bench.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.bench.report.Report;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Smaller rounds come before those that count, and who begins a round ends the next. */
class StrategyTurnsTest {
    private static final List<String> COLUMNS = List.of("a", "b");

    @Test
    void rounds_that_warm_up_are_smaller_and_leave_no_figure(@TempDir Path directory) {
        Report report = new Report("Some", COLUMNS);
        List<String> taken = new ArrayList<>();
        new StrategyTurns(400, 3, 2, directory).take(report, Regime.inCache(), COLUMNS, column -> {
            taken.add(column.name() + column.size());
            column.note("turn", taken.size());
        });
        assertThat(taken)
                .containsExactly(
                        "b100", "a100", "a100", "b100", "b100", "a100", "a400", "b400", "b400",
                        "a400");
        // of the turns 7 and 10, and 8 and 9
        assertThat(report.figure("turn", "a")).isEqualTo(8.5);
        assertThat(report.figure("turn", "b")).isEqualTo(8.5);
    }
}
