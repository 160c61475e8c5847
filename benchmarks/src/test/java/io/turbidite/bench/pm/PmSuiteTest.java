package io.turbidite.bench.pm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.bench.report.Report;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;

/** That the figures are of right answers; no figure is judged here. */
class PmSuiteTest {
    private static final int RECORDS = 1_000;
    private static final int QUESTIONS = 100;

    /** Each rival answers as the model does, however it was fed. */
    @ParameterizedTest
    @EnumSource(Load.class)
    void rivals_answer_as_the_model(Load load) {
        Operations operations = Operations.of(load, RECORDS, 4, 1);
        for (String name : Contender.NAMES) {
            for (Contender.Feeding feeding : Contender.Feeding.values()) {
                try (Contender contender = Contender.of(name)) {
                    contender.feed(operations, feeding);
                    for (int limit : new int[] {1, 10, 200}) {
                        Asking asking = Asking.newest(operations, limit, QUESTIONS);
                        assertThat(asking.micros(
                                        name, 0, contender.asker(operations, limit, () -> {})))
                                .isNotNegative();
                    }
                    Asking ranges = Asking.ranges(operations, QUESTIONS);
                    assertThat(ranges.micros(name, 0, contender.ranger(operations)))
                            .isNotNegative();
                }
            }
        }
    }

    @Test
    void a_wrong_answer_ends_the_run() {
        Operations operations = Operations.of(Load.UNIFORM, RECORDS, 4, 1);
        Asking asking = Asking.newest(operations, 10, QUESTIONS);
        assertThatThrownBy(() -> asking.micros("nobody", 0, key -> operations.answer(key, 9)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another answer");
    }

    /** Each part is run with answers that are compared, and gives figures. */
    @ParameterizedTest
    @EnumSource(PmSuite.Part.class)
    void all_parts_give_figures(PmSuite.Part part, @TempDir Path directory) {
        PmSuite.Setting setting = new PmSuite.Setting(
                RECORDS,
                RECORDS,
                50,
                1,
                0,
                QUESTIONS,
                1,
                EnumSet.of(Load.UNIFORM, Load.SKEWED_SEC),
                EnumSet.of(part));
        List<Report> reports = new PmSuite(setting, directory).run();
        assertThat(reports).isNotEmpty().allSatisfy(report -> {
            assertThat(report.works()).isNotEmpty();
            assertThat(report.table()).contains("| ");
        });
    }
}
