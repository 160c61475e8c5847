package io.turbidite.bench.report;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;

import org.knowm.xchart.XYChart;

import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Charts one below the other, in one file of SVG. <em>Confined to one thread.</em>
 */
public final class Picture {
    /** How wide each chart is. */
    public static final int WIDTH = 1_000;

    private static final int MARGIN = 12;

    /** Not 12: that is the writer's default, which it leaves out, and viewers take their own. */
    private static final int FONT_SIZE = 11;

    private static final double CHARACTER_WIDTH = 6.4;
    private static final int CHARACTERS_MAX = 84;

    private final List<Panel> panels = new ArrayList<>();

    /** @param rows names of 0, -1, -2 … on the upright axis; empty where that has labels */
    private record Panel(XYChart chart, List<String> rows) {}

    /** Adds one below the others. */
    public void add(XYChart chart) {
        add(chart, List.of());
    }

    /** Adds one with a name beside each row. */
    void add(XYChart chart, List<String> rows) {
        panels.add(new Panel(chart, rows.stream().map(Picture::cut).toList()));
    }

    /** It has no chart. */
    public boolean isEmpty() {
        return panels.isEmpty();
    }

    /** Deletes a picture of an earlier run, of points too; there may be none. */
    static void delete(Path file) throws IOException {
        String name = file.getFileName().toString();
        Files.deleteIfExists(file);
        Files.deleteIfExists(file.resolveSibling(name.replaceFirst("\\.svg$", ".png")));
    }

    /** Draws it into {@code file}, in place of one of an earlier run. */
    public void write(Path file) throws IOException {
        delete(file);
        VectorGraphics2D graphics = new VectorGraphics2D();
        int height = panels.stream().mapToInt(panel -> panel.chart.getHeight()).sum();
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, WIDTH, height);
        int left = namesWidth();
        int top = 0;
        for (Panel panel : panels) {
            graphics.translate(left, top);
            panel.chart.paint(graphics, WIDTH - left, panel.chart.getHeight());
            graphics.translate(-left, -top);
            writeNames(graphics, panel, top);
            top += panel.chart.getHeight();
        }
        try (OutputStream out = Files.newOutputStream(file)) {
            new SVGProcessor()
                    .getDocument(graphics.getCommands(), new PageSize(0, 0, WIDTH, height))
                    .writeTo(out);
        }
    }

    private static String cut(String name) {
        return name.length() <= CHARACTERS_MAX ? name : name.substring(0, CHARACTERS_MAX - 1) + "…";
    }

    /** What the longest name takes beside the charts; 0 where rows have no names. */
    private int namesWidth() {
        int longest = panels.stream()
                .flatMap(panel -> panel.rows.stream())
                .mapToInt(String::length)
                .max()
                .orElse(0);
        return longest == 0 ? 0 : MARGIN + (int) (longest * CHARACTER_WIDTH);
    }

    /** Where a chart's own labels would be; it leaves some out, as their space is wanted. */
    private static void writeNames(VectorGraphics2D graphics, Panel panel, int top) {
        graphics.setColor(Color.BLACK);
        graphics.setFont(new Font(Font.SANS_SERIF, Font.PLAIN, FONT_SIZE));
        for (int row = 0; row < panel.rows.size(); row++) {
            double down = top + panel.chart.getScreenYFromChart(-row) + 4;
            graphics.drawString(panel.rows.get(row), MARGIN, (float) down);
        }
    }
}
