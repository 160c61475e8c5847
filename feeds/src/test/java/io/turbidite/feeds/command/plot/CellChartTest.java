package io.turbidite.feeds.command.plot;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.type.Rectangle;

import org.junit.jupiter.api.Test;

import java.util.List;

class CellChartTest {
    @Test
    void each_label_names_the_middle_that_it_stands_at() {
        assertThat(CellChart.labels(-125, 2, 3, false)).containsExactly("-124", "-122", "-120");
        List<String> many = CellChart.labels(0.5, 0.25, 28, false);
        assertThat(many).hasSize(28);
        for (int i = 0; i < many.size(); i++) {
            assertThat(many.get(i)).isEqualTo(i % 3 == 0 ? shown(0.625 + i * 0.25) : " ");
        }
    }

    private static CellPicture.Cell cell(double x, double y, long count) {
        return new CellPicture.Cell(new Rectangle(x, y, x + 2, y + 2), count);
    }

    /** Not 180 columns, of which two have records. */
    @Test
    void cells_on_both_sides_of_the_antimeridian_lie_beside_one_another() {
        List<CellPicture.Cell> cells =
                List.of(cell(-180, 0, 1), cell(-178, 2, 2), cell(176, 0, 3), cell(180, 0, 4));
        CellGrid grid = CellGrid.ofSphere(cells);
        assertThat(grid.columnCount()).isEqualTo(4);
        assertThat(grid.cells())
                .containsExactlyInAnyOrder(cell(180, 0, 5), cell(182, 2, 2), cell(176, 0, 3));
        assertThat(CellChart.labels(grid.minX(), grid.width(), 4, grid.goesRound()))
                .containsExactly("177", "179", "-179", "-177");
        // on the plane they are as far apart as their numbers are
        assertThat(CellGrid.of(cells).columnCount()).isEqualTo(181);
        List<CellPicture.Cell> inside = List.of(cell(-20, 0, 1), cell(40, 0, 1));
        assertThat(CellGrid.ofSphere(inside)).isEqualTo(CellGrid.of(inside));
        assertThat(CellGrid.ofSphere(List.of()).columnCount()).isEqualTo(1);
    }

    private static String shown(double middle) {
        return middle == Math.rint(middle) ? String.valueOf((long) middle) : String.valueOf(middle);
    }
}
