package io.turbidite.feeds.command.plot;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * A picture of counts by cells, on its way to a file: where cells are is where records are, and
 * their colour says how many. <em>Confined to one thread.</em>
 */
public final class CellPicture {
    /** More columns or rows than this are narrower than a dot. */
    private static final int CELLS_ACROSS_MAX = 1_000;

    /** Where there is one more, some lie outside of any grid that can be seen. */
    private static final int CELLS_MAX = CELLS_ACROSS_MAX * CELLS_ACROSS_MAX;

    private final Path file;
    private final Format format;
    private final List<Cell> cells = new ArrayList<>();

    /** How a picture is written. */
    enum Format {
        SVG,
        PNG
    }

    /** A cell and the records in it. */
    record Cell(Rectangle bounds, long count) {}

    private CellPicture(Path file, Format format) {
        this.file = file;
        this.format = format;
    }

    /**
     * Begins a picture; nothing is written yet.
     *
     * @param file its name ends in {@code .svg} or {@code .png}; one that exists is replaced
     * @throws InvalidRequestException if nothing could be written there, or what draws is missing
     */
    public static CellPicture to(Path file) {
        String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
        Format format =
                name.endsWith(".svg") ? Format.SVG : name.endsWith(".png") ? Format.PNG : null;
        if (format == null) {
            throw new InvalidRequestException(
                    "--plot '%s' ends in neither .svg nor .png".formatted(file));
        }
        if (Files.isDirectory(file)) {
            throw new InvalidRequestException(
                    "--plot '%s' is a directory; give the name of a file".formatted(file));
        }
        Path directory = file.toAbsolutePath().getParent();
        if (directory == null || !Files.isDirectory(directory)) {
            throw new InvalidRequestException(
                    "--plot '%s': there is no directory %s".formatted(file, directory));
        }
        if (!Files.isWritable(directory)) {
            throw new InvalidRequestException(
                    "--plot '%s': the directory %s can't be written to".formatted(file, directory));
        }
        requireLibraries(format);
        return new CellPicture(file, format);
    }

    private static void requireLibraries(Format format) {
        require("org.knowm.xchart.HeatMapChart", "org.knowm.xchart:xchart:4.0.3");
        if (format == Format.SVG) {
            require(
                    "org.apache.batik.svggen.SVGGraphics2D",
                    "org.apache.xmlgraphics:batik-svggen:1.19");
        }
    }

    private static void require(String type, String library) {
        try {
            Class.forName(type, false, CellPicture.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            throw new InvalidRequestException(
                    "--plot needs %s, which is not on the class path".formatted(library), e);
        }
    }

    /** Adds the row that a result of a query by cells is on. */
    public void add(QueryResult row) {
        Map<String, @Nullable Object> cell = row.map();
        add((Rectangle) cell.get("cell"), (Long) Objects.requireNonNull(cell.get("count")));
    }

    /**
     * Adds a cell with its count.
     *
     * @param bounds null: the records without a point, which have no place in a picture
     */
    public void add(@Nullable Rectangle bounds, long count) {
        if (bounds != null && cells.size() <= CELLS_MAX) {
            cells.add(new Cell(bounds, count));
        }
    }

    /** Cells that are kept, to be drawn or to say that they are too many. */
    int keptCount() {
        return cells.size();
    }

    /**
     * Draws the cells and writes the file.
     *
     * @param title above them
     * @param field the point that cells are of
     * @param type of the records: on the sphere, cells go on across the antimeridian
     * @throws InvalidRequestException if the cells are too many to be seen, or the file can't be
     *     written; there is no new file then, and an old one is as it was
     */
    public void write(String title, String field, RecordType type) {
        boolean isOnSphere = type.field(type.require(field, "--plot")).kind() == TypeKind.LONLAT;
        CellGrid grid = isOnSphere ? CellGrid.ofSphere(cells) : CellGrid.of(cells);
        if (grid.columnCount() > CELLS_ACROSS_MAX || grid.rowCount() > CELLS_ACROSS_MAX) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "--plot: the records lie in a grid of %,d by %,d cells, and at most %,d either way can be seen: take larger cells or a window",
                    grid.columnCount(),
                    grid.rowCount(),
                    CELLS_ACROSS_MAX));
        }
        ByteArrayOutputStream picture = new ByteArrayOutputStream();
        try {
            CellChart.draw(grid, title, field, format, picture);
            replace(picture);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "--plot '%s' can't be written: %s".formatted(file, e), e);
        }
    }

    private void replace(ByteArrayOutputStream picture) throws IOException {
        // not a temporary file of the system's: that nobody else could read
        Path draft = file.toAbsolutePath()
                .resolveSibling(".%s.%d.tmp"
                        .formatted(file.getFileName(), ProcessHandle.current().pid()));
        try {
            try (OutputStream out = Files.newOutputStream(draft)) {
                picture.writeTo(out);
            }
            try {
                Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
            } catch (AtomicMoveNotSupportedException e) {
                Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            Files.deleteIfExists(draft);
        }
    }
}
