package io.turbidite.feeds.command.plot;

import io.turbidite.core.type.Rectangle;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cells in columns and rows, from the first to the last that has records. <em>Immutable.</em>
 *
 * @param cells none twice
 * @param minX left border of the first column
 * @param minY lower border of the first row
 * @param width of a column
 * @param height of a row
 * @param goesRound whether columns behind 180 degrees are those from -180 degrees on
 */
record CellGrid(
        List<CellPicture.Cell> cells,
        double minX,
        double minY,
        double width,
        double height,
        long columnCount,
        long rowCount,
        boolean goesRound) {
    private static final double DEGREES = 360;

    /**
     * The grid that some cells of the sphere are of. It begins behind the widest stretch without
     * any, so cells on both sides of the antimeridian lie beside one another.
     */
    static CellGrid ofSphere(List<CellPicture.Cell> cells) {
        double width = cells.isEmpty() ? 0 : width(cells.getFirst());
        if (!(width > 0) || Math.IEEEremainder(DEGREES, width) != 0) {
            // columns would not go on behind the antimeridian as they are before it
            return of(cells);
        }
        double[] columns = cells.stream()
                .mapToDouble(cell -> cell.bounds().minX())
                .distinct()
                .sorted()
                .toArray();
        double first = columns[0];
        double widest = first + DEGREES - columns[columns.length - 1];
        for (int i = 1; i < columns.length; i++) {
            if (columns[i] - columns[i - 1] > widest) {
                widest = columns[i] - columns[i - 1];
                first = columns[i];
            }
        }
        if (first == columns[0]) {
            return of(cells);
        }
        // a point at 180 degrees is in the column that begins there, which is that of -180 degrees
        Map<Rectangle, Long> counts = new LinkedHashMap<>();
        for (CellPicture.Cell cell : cells) {
            Rectangle at = cell.bounds();
            counts.merge(at.minX() < first ? turned(at) : at, cell.count(), Long::sum);
        }
        List<CellPicture.Cell> turned = counts.entrySet().stream()
                .map(cell -> new CellPicture.Cell(cell.getKey(), cell.getValue()))
                .toList();
        return of(turned, true);
    }

    private static Rectangle turned(Rectangle at) {
        return new Rectangle(at.minX() + DEGREES, at.minY(), at.maxX() + DEGREES, at.maxY());
    }

    private static double width(CellPicture.Cell cell) {
        return cell.bounds().maxX() - cell.bounds().minX();
    }

    /** The grid that some cells are of, all as large as the others. */
    static CellGrid of(List<CellPicture.Cell> cells) {
        return of(cells, false);
    }

    private static CellGrid of(List<CellPicture.Cell> cells, boolean goesRound) {
        if (cells.isEmpty()) {
            return new CellGrid(List.of(), 0, 0, 1, 1, 1, 1, false);
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
        double width = width(cells.getFirst());
        double height = first.maxY() - first.minY();
        return new CellGrid(
                List.copyOf(cells),
                minX,
                minY,
                width,
                height,
                steps(maxX - minX, width) + 1,
                steps(maxY - minY, height) + 1,
                goesRound);
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
