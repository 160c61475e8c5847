package io.turbidite.feeds.command.plot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.List;

class CellChartTest {
    @Test
    void each_label_names_the_middle_that_it_stands_at() {
        assertThat(CellChart.labels(-125, 2, 3)).containsExactly("-124", "-122", "-120");
        List<String> many = CellChart.labels(0.5, 0.25, 28);
        assertThat(many).hasSize(28);
        for (int i = 0; i < many.size(); i++) {
            assertThat(many.get(i)).isEqualTo(i % 3 == 0 ? shown(0.625 + i * 0.25) : " ");
        }
    }

    private static String shown(double middle) {
        return middle == Math.rint(middle) ? String.valueOf((long) middle) : String.valueOf(middle);
    }
}
