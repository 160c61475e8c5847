package io.turbidite.feeds.command.plot;

import org.apache.batik.svggen.SVGGraphics2D;
import org.knowm.xchart.HeatMapChart;
import org.knowm.xchart.HeatMapChartBuilder;
import org.knowm.xchart.style.HeatMapStyler;
import org.w3c.dom.Document;

import java.awt.Color;
import java.awt.Dimension;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;

/** Draws cells by XChart. Static, without state. */
final class CellChart {
    private static final int WIDTH = 1_000;
    private static final int HEIGHT = 800;

    /** Beside the cells: axes, title, legend. */
    private static final int MARGIN = 260;

    /** Dots that a cell takes at least, where there are many. */
    private static final int DOTS_MIN = 3;

    private static final int LABELS_MAX = 10;
    private static final String SVG = "http://www.w3.org/2000/svg";

    /** From few to many; none of them is white, which is no record. */
    private static final Color[] COLORS = {
        new Color(255, 237, 160),
        new Color(254, 178, 76),
        new Color(240, 59, 32),
        new Color(128, 0, 38)
    };

    private CellChart() {}

    static void draw(
            CellGrid grid, String title, String field, CellPicture.Format format, OutputStream out)
            throws IOException {
        // a picture needs no screen, and a server has none
        System.setProperty("java.awt.headless", "true");
        int width = Math.max(WIDTH, MARGIN + DOTS_MIN * (int) grid.columnCount());
        int height = Math.max(HEIGHT, MARGIN + DOTS_MIN * (int) grid.rowCount());
        HeatMapChart chart = chart(grid, title, field, width, height);
        switch (format) {
            case PNG -> drawPng(chart, width, height, out);
            case SVG -> drawSvg(chart, width, height, out);
        }
    }

    private static HeatMapChart chart(
            CellGrid grid, String title, String field, int width, int height) {
        HeatMapChart chart = new HeatMapChartBuilder()
                .width(width)
                .height(height)
                .title(title)
                .xAxisTitle(field + ": x")
                .yAxisTitle(field + ": y")
                .build();
        List<Number[]> counts = new ArrayList<>();
        long most = 1;
        for (CellPicture.Cell cell : grid.cells()) {
            counts.add(
                    new Number[] {grid.column(cell.bounds()), grid.row(cell.bounds()), cell.count()
                    });
            most = Math.max(most, cell.count());
        }
        HeatMapStyler styler = chart.getStyler();
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotGridLinesVisible(false);
        // all labels are the axes': which are blank is ours
        styler.setXAxisTickMarkSpacingHint(1);
        styler.setYAxisTickMarkSpacingHint(1);
        styler.setAxisTicksMarksVisible(false);
        styler.setRangeColors(COLORS);
        styler.setMin(0);
        styler.setMax((double) most);
        if (counts.isEmpty()) {
            // the library wants one
            counts.add(new Number[] {0, 0, 0});
            styler.setRangeColors(new Color[] {Color.WHITE, Color.WHITE});
        }
        chart.addSeries(
                "records",
                labels(grid.minX(), grid.width(), grid.columnCount(), grid.goesRound()),
                labels(grid.minY(), grid.height(), grid.rowCount(), false),
                counts);
        return chart;
    }

    /**
     * The middles of columns or rows, which the library puts labels at, as many as can be read. It
     * would leave some out too, but put the others where they don't belong.
     *
     * @param goesRound whether degrees above 180 are those from -180 on
     */
    static List<String> labels(double first, double step, long count, boolean goesRound) {
        long apart = (count + LABELS_MAX - 1) / LABELS_MAX;
        List<String> labels = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            double middle = first + (i + 0.5) * step;
            boolean isTurned = goesRound && middle > 180;
            labels.add(i % apart == 0 ? label(isTurned ? middle - 360 : middle) : " ");
        }
        return labels;
    }

    private static String label(double middle) {
        return BigDecimal.valueOf(middle)
                .round(new MathContext(9))
                .stripTrailingZeros()
                .toPlainString();
    }

    private static void drawPng(HeatMapChart chart, int width, int height, OutputStream out)
            throws IOException {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        try {
            chart.paint(graphics, width, height);
        } finally {
            graphics.dispose();
        }
        if (!ImageIO.write(image, "png", out)) {
            throw new IOException("this JDK writes no PNG");
        }
    }

    private static void drawSvg(HeatMapChart chart, int width, int height, OutputStream out)
            throws IOException {
        SVGGraphics2D graphics = new SVGGraphics2D(newDocument());
        graphics.setSVGCanvasSize(new Dimension(width, height));
        chart.paint(graphics, width, height);
        Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8);
        graphics.stream(writer, false);
        writer.flush();
        graphics.dispose();
    }

    private static Document newDocument() throws IOException {
        try {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .getDOMImplementation()
                    .createDocument(SVG, "svg", null);
        } catch (ParserConfigurationException e) {
            throw new IOException("this JDK makes no XML", e);
        }
    }
}
