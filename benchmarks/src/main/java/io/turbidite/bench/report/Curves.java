package io.turbidite.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A figure of a paper made again: several ways to do something, each a curve over one quantity,
 * with the paper's finding in words beside ours. What is shown is the median of the rounds.
 */
public final class Curves {
    private final String title;
    private final String x;
    private final String y;
    private final Map<String, String> setting = new LinkedHashMap<>();

    /** Curve, then x, then one figure a round. */
    private final Map<String, SortedMap<Double, List<Double>>> figures = new LinkedHashMap<>();

    private final List<String> findings = new ArrayList<>();
    private boolean isLinear;
    private int colours;

    /**
     * @param x what the curves run over, with its unit
     * @param y what was measured, with its unit
     */
    public Curves(String title, String x, String y) {
        this.title = title;
        this.x = x;
        this.y = y;
    }

    /** Has the plot's axes begin at 0, and grow evenly. */
    public Curves linear() {
        isLinear = true;
        return this;
    }

    /** A fact that a reader must know: machine, sizes, cache state, command. */
    public Curves setting(String name, Object value) {
        setting.put(name, value.toString());
        return this;
    }

    /** What the paper found, and beside it what was found here. */
    public Curves finding(String paper, String here) {
        findings.add("- Paper: %s%n- Here: %s%n".formatted(paper, here));
        return this;
    }

    public void add(String curve, double at, double figure) {
        figures.computeIfAbsent(curve, none -> new TreeMap<>())
                .computeIfAbsent(at, none -> new ArrayList<>())
                .add(figure);
    }

    /** The median of the rounds; NaN if there is none. */
    public double median(String curve, double at) {
        SortedMap<Double, List<Double>> points = figures.get(curve);
        List<Double> rounds = points == null ? null : points.get(at);
        if (rounds == null) {
            return Double.NaN;
        }
        double[] sorted =
                rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** A row for each x, a column for each curve, and the findings. */
    public String table() {
        StringBuilder text = new StringBuilder("# ").append(title).append("\n\n");
        setting.forEach((name, value) -> text.append("- %s: %s%n".formatted(name, value)));
        text.append("\n%s%n%n| %s |".formatted(y, x));
        figures.keySet().forEach(curve -> text.append(" %s |".formatted(curve)));
        text.append("\n|---|").append("---|".repeat(figures.size())).append('\n');
        SortedSet<Double> places = new TreeSet<>();
        figures.values().forEach(points -> places.addAll(points.keySet()));
        for (double at : places) {
            text.append("| %s |".formatted(shown(at)));
            for (String curve : figures.keySet()) {
                double figure = median(curve, at);
                text.append(
                        Double.isNaN(figure)
                                ? " |"
                                : String.format(Locale.ROOT, " %.3f |", figure));
            }
            text.append('\n');
        }
        if (!findings.isEmpty()) {
            text.append('\n');
            findings.forEach(text::append);
        }
        return text.toString();
    }

    private static String shown(double at) {
        return at == Math.rint(at) ? "%,d".formatted((long) at) : Double.toString(at);
    }

    /** Writes several figures into one {@code NAME.md} and {@code NAME.json}, with a plot each. */
    public static void writeAll(Path directory, String name, List<Curves> all) throws IOException {
        Files.createDirectories(directory);
        StringBuilder text = new StringBuilder();
        List<Map<String, Object>> json = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            Curves curves = all.get(i);
            String plot = "%s-%d.svg".formatted(name, i + 1);
            text.append(curves.table()).append("\n![the same as a plot](%s)\n\n".formatted(plot));
            json.add(Map.of(
                    "title", curves.title,
                    "setting", curves.setting,
                    "x", curves.x,
                    "y", curves.y,
                    "figures", curves.figures,
                    "findings", curves.findings));
            curves.plot(directory.resolve(plot));
        }
        Files.writeString(directory.resolve(name + ".md"), text.toString().stripTrailing() + "\n");
        new ObjectMapper()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .writeValue(directory.resolve(name + ".json").toFile(), json);
    }

    private void plot(Path file) throws IOException {
        XYChart chart = new XYChartBuilder()
                .width(Picture.WIDTH)
                .height(520)
                .title(title)
                .xAxisTitle(x)
                .yAxisTitle(y)
                .build();
        chart.getStyler().setXAxisLogarithmic(!isLinear).setYAxisLogarithmic(!isLinear);
        if (isLinear) {
            chart.getStyler().setMarkerSize(4);
            chart.getStyler().setYAxisMin(0.0);
        }
        figures.forEach((curve, points) -> add(chart, curve, points));
        Picture picture = new Picture();
        picture.add(chart);
        picture.write(file);
    }

    /** The curve of the medians, and at each place a whisker from the least to the largest. */
    private void add(XYChart chart, String curve, SortedMap<Double, List<Double>> points) {
        List<Double> places = new ArrayList<>();
        List<Double> medians = new ArrayList<>();
        points.forEach((at, rounds) -> {
            Panels.Spot spot = Panels.Spot.of(rounds);
            // what cost nothing has no place on a logarithmic axis
            if (isLinear || spot.middle() > 0) {
                places.add(at);
                medians.add(spot.middle());
            }
        });
        if (places.isEmpty()) {
            return;
        }
        XYSeries line = chart.addSeries(curve, places, medians);
        Color colour = Panels.colour(colours++);
        line.setMarkerColor(colour);
        line.setLineColor(colour);
        for (double at : places) {
            Panels.Spot spot = Panels.Spot.of(Objects.requireNonNull(points.get(at)));
            if (spot.least() < spot.most() && (isLinear || spot.isPositive())) {
                XYSeries whisker = chart.addSeries(
                        "%s at %s".formatted(curve, at),
                        List.of(at, at),
                        List.of(spot.least(), spot.most()));
                whisker.setMarker(SeriesMarkers.NONE);
                whisker.setLineColor(colour).setShowInLegend(false);
            }
        }
    }

    @Override
    public String toString() {
        return title + figures.keySet();
    }
}
