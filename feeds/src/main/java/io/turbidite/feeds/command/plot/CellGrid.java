package io.turbidite.feeds.command.plot;

import io.turbidite.core.type.Rectangle;

import java.util.List;

/**
 * Cells in columns and rows, from the first to the last that has records. <em>Immutable.</em>
 *
 * @param cells none twice
 * @param minX left border of the first column
 * @param minY lower border of the first row
 * @param width of a column
 * @param height of a row
 */
record CellGrid(
        List<CellPicture.Cell> cells,
        double minX,
        double minY,
        double width,
        double height,
        long columnCount,
        long rowCount) {
    /** The grid that some cells are of, all as large as the others. */
    static CellGrid of(List<CellPicture.Cell> cells) {
        if (cells.isEmpty()) {
            return new CellGrid(List.of(), 0, 0, 1, 1, 1, 1);
        }
        double minX = Double.POSITIVE_INFINITY;
        double minY = Double.POSITIVE_INFINITY;
        double maxX = Double.NEGATIVE_INFINITY;
        double maxY = Double.NEGATIVE_INFINITY;
        for (CellPicture.Cell cell : cells) {
            minX = Math.min(minX, cell.bounds().minX());
            minY = Math.min(minY, cell.bounds().minY());
            maxX = Math.max(maxX, cell.bounds().minX());
            maxY = Math.max(maxY, cell.bounds().minY());
        }
        Rectangle first = cells.getFirst().bounds();
        double width = first.maxX() - first.minX();
        double height = first.maxY() - first.minY();
        return new CellGrid(
                List.copyOf(cells),
                minX,
                minY,
                width,
                height,
                steps(maxX - minX, width) + 1,
                steps(maxY - minY, height) + 1);
    }

    /** Cells far from the origin may be so small that their borders round to one number. */
    private static long steps(double distance, double size) {
        return size > 0 ? Math.round(distance / size) : Long.MAX_VALUE - 1;
    }

    int column(Rectangle cell) {
        return (int) steps(cell.minX() - minX, width);
    }

    int row(Rectangle cell) {
        return (int) steps(cell.minY() - minY, height);
    }
}
