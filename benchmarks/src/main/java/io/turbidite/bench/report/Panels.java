package io.turbidite.bench.report;

import org.knowm.xchart.AnnotationLine;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

import java.awt.BasicStroke;
import java.awt.Color;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The picture of a report: works one below the other, those of one unit in a panel. Where there are
 * several engines each point is what the first one takes in parts of another, on a logarithmic axis
 * with a line at 1; otherwise it is the figure. Whiskers go from the least round to the largest.
 */
final class Panels {
    private static final Pattern UNIT = Pattern.compile(
            "(?:^|, )(us|ms|ns|s|seconds|MiB|KB|GB/s|GB|bytes|blocks|fences|pages|%)(?= |,|/|$)");
    private static final Color[] COLOURS = {
        new Color(0x8c7a45), new Color(0x5b7ea4), new Color(0xa4605b),
        new Color(0x5f8f62), new Color(0x8a6aa0), new Color(0x7c7c7c),
        new Color(0xc28b3c), new Color(0x4f9aa0)
    };
    private static final int ROW_PIXELS = 22;
    private static final int FRAME_PIXELS = 130;

    /** A point and how far the rounds lie around it. */
    record Spot(double least, double middle, double most) {
        /** Of figures of the same rounds. */
        static Spot of(List<Double> rounds) {
            double[] sorted =
                    rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            return new Spot(sorted[0], median(sorted), sorted[sorted.length - 1]);
        }

        /** What {@code first} is in parts of {@code other}: of the medians, and of each round. */
        static Spot ratio(List<Double> first, List<Double> other) {
            double middle = of(first).middle / of(other).middle;
            double least = middle;
            double most = middle;
            for (int i = 0; first.size() == other.size() && i < first.size(); i++) {
                least = Math.min(least, first.get(i) / other.get(i));
                most = Math.max(most, first.get(i) / other.get(i));
            }
            return new Spot(least, middle, most);
        }

        private static double median(double[] sorted) {
            int half = sorted.length / 2;
            return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
        }

        /** It has a place on a logarithmic axis. */
        boolean isPositive() {
            return least > 0 && Double.isFinite(most);
        }
    }

    private Panels() {}

    /** The colour of a series. */
    static Color colour(int index) {
        return COLOURS[index % COLOURS.length];
    }

    /** The unit that a work's name tells; empty where the report's title does. */
    static String unitOf(String work) {
        Matcher found = UNIT.matcher(work);
        return found.find() ? found.group(1) : "";
    }

    /** @param figures by work, then by engine, one a round */
    static Picture of(
            String title, List<String> engines, Map<String, Map<String, List<Double>>> figures) {
        Map<String, Map<String, Map<String, Spot>>> byUnit = new LinkedHashMap<>();
        figures.forEach((work, byEngine) -> {
            Map<String, Spot> spots = spots(engines, byEngine);
            if (!spots.isEmpty()) {
                byUnit.computeIfAbsent(unitOf(work), none -> new LinkedHashMap<>())
                        .put(work, spots);
            }
        });
        Picture picture = new Picture();
        byUnit.forEach((unit, works) -> picture.add(
                panel(picture.isEmpty() ? title : " ", unit, engines, works),
                List.copyOf(works.keySet())));
        return picture;
    }

    private static Map<String, Spot> spots(
            List<String> engines, Map<String, List<Double>> byEngine) {
        Map<String, Spot> spots = new LinkedHashMap<>();
        List<Double> first = byEngine.getOrDefault(engines.getFirst(), List.of());
        if (!first.isEmpty() && engines.size() == 1) {
            spots.put(engines.getFirst(), Spot.of(first));
        }
        for (String engine : engines.subList(1, engines.size())) {
            List<Double> other = byEngine.getOrDefault(engine, List.of());
            if (!first.isEmpty() && !other.isEmpty()) {
                Spot ratio = Spot.ratio(first, other);
                if (ratio.isPositive()) {
                    spots.put("%s / %s".formatted(engines.getFirst(), engine), ratio);
                }
            }
        }
        return spots;
    }

    private static XYChart panel(
            String title, String unit, List<String> engines, Map<String, Map<String, Spot>> works) {
        boolean isRatio = engines.size() > 1;
        List<String> names = new ArrayList<>(works.keySet());
        List<String> series = works.values().stream()
                .flatMap(spots -> spots.keySet().stream())
                .distinct()
                .toList();
        int rowPixels = ROW_PIXELS + 6 * series.size();
        XYChart chart = new XYChartBuilder()
                .width(Picture.WIDTH)
                .height(FRAME_PIXELS + names.size() * rowPixels)
                .title(title)
                .xAxisTitle(isRatio ? "ratio" + (unit.isEmpty() ? "" : " of " + unit) : unit)
                .build();
        style(chart.getStyler(), isRatio, names.size());
        for (int i = 0; i < series.size(); i++) {
            double shift = 0.7 * ((i + 0.5) / series.size() - 0.5);
            draw(chart, series.get(i), colour(i), works, shift);
        }
        if (isRatio) {
            chart.addAnnotation(new AnnotationLine(1, true, false));
            bounds(chart.getStyler(), works);
        }
        return chart;
    }

    /** The labels are the library's own: with others it tries for ever where two are the same. */
    private static void style(XYStyler styler, boolean isRatio, int rows) {
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setLegendPosition(Styler.LegendPosition.OutsideS);
        styler.setLegendLayout(Styler.LegendLayout.Horizontal);
        styler.setXAxisLogarithmic(isRatio);
        styler.setYAxisMin(0.5 - rows);
        styler.setYAxisMax(0.5);
        // the picture writes the rows' names
        styler.setYAxisTicksVisible(false);
    }

    /** From the least whisker to the largest, and 1 in any case. */
    private static void bounds(XYStyler styler, Map<String, Map<String, Spot>> works) {
        double least = 1;
        double most = 1;
        for (Map<String, Spot> spots : works.values()) {
            for (Spot spot : spots.values()) {
                least = Math.min(least, spot.least());
                most = Math.max(most, spot.most());
            }
        }
        // of several decades the labels of all nine parts would lie on each other
        styler.setXAxisLogarithmicDecadeOnly(most / least > 20);
        styler.setXAxisMin(least / 1.2);
        styler.setXAxisMax(most * 1.2);
    }

    private static void draw(
            XYChart chart,
            String name,
            Color colour,
            Map<String, Map<String, Spot>> works,
            double shift) {
        List<Double> across = new ArrayList<>();
        List<Double> down = new ArrayList<>();
        int row = 0;
        for (Map<String, Spot> spots : works.values()) {
            Spot spot = spots.get(name);
            double at = -row - shift;
            if (spot != null) {
                across.add(spot.middle());
                down.add(at);
                XYSeries whisker = chart.addSeries(
                        "%s, row %d".formatted(name, row),
                        List.of(spot.least(), spot.most()),
                        List.of(at, at));
                whisker.setMarker(SeriesMarkers.NONE);
                whisker.setLineColor(colour)
                        .setLineStyle(new BasicStroke(1.5f))
                        .setShowInLegend(false);
            }
            row++;
        }
        XYSeries points = chart.addSeries(name, across, down);
        points.setXYSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Scatter);
        points.setMarker(SeriesMarkers.CIRCLE).setMarkerColor(colour);
    }
}
