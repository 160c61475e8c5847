package io.turbidite.feeds.command.plot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.List;

class CellChartTest {
    @Test
    void each_label_stands_at_its_own_column() {
        assertThat(CellChart.labels(-125, 2, 3)).containsExactly("-125", "-123", "-121");
        List<String> many = CellChart.labels(0.5, 0.25, 28);
        assertThat(many).hasSize(28);
        for (int i = 0; i < many.size(); i++) {
            assertThat(many.get(i)).isEqualTo(i % 3 == 0 ? shown(0.5 + i * 0.25) : " ");
        }
    }

    private static String shown(double border) {
        return border == Math.rint(border) ? String.valueOf((long) border) : String.valueOf(border);
    }
}
