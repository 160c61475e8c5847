package io.turbidite.bench.latency;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

import io.turbidite.bench.report.Picture;

import org.HdrHistogram.Histogram;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.markers.SeriesMarkers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Percentiles of several loops: table, JSON, and a plot with the share of slower ones on the x
 * axis.
 */
public final class LatencyReport {
    private static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99, 100};

    private final String title;
    private final Map<String, String> setting = new LinkedHashMap<>();
    private final Map<String, Loop> loops = new LinkedHashMap<>();

    /**
     * What a loop came to.
     *
     * @param upserts nanoseconds from when each was due to when it returned
     * @param machine how late a thread woke that did nothing else
     * @param rate upserts a second
     */
    public record Loop(Histogram upserts, Histogram machine, double rate, Merges merges) {}

    /**
     * Merges that ended during a loop.
     *
     * @param largestBytes what the largest of them read
     */
    public record Merges(long count, long bytesWritten, long largestBytes) {}

    LatencyReport(String title) {
        this.title = title;
    }

    LatencyReport setting(String name, Object value) {
        setting.put(name, value.toString());
        return this;
    }

    void add(String name, Loop loop) {
        loops.put(name, loop);
    }

    /** The loops by name. */
    public Map<String, Loop> loops() {
        return loops;
    }

    /** A row for each loop, milliseconds. */
    public String table() {
        StringBuilder text = new StringBuilder("# ").append(title).append("\n\n");
        setting.forEach((name, value) -> text.append("- %s: %s%n".formatted(name, value)));
        text.append(
                "\nMilliseconds from when an upsert was due; below each loop the same for a thread that"
                        + " does nothing but wake up every millisecond.\n\n");
        text.append(
                "| loop | upserts/s | p50 | p90 | p99 | p99.9 | p99.99 | longest | merges | merged |"
                        + " largest merge |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
        loops.forEach((name, loop) -> {
            text.append("| %s | %,.0f |%s %d | %.2f GB | %.2f GB |%n"
                    .formatted(
                            name,
                            loop.rate,
                            cells(loop.upserts),
                            loop.merges.count,
                            loop.merges.bytesWritten / 1e9,
                            loop.merges.largestBytes / 1e9));
            text.append("| machine | |%s | | |%n".formatted(cells(loop.machine)));
        });
        return text.toString();
    }

    /** The percentiles in one line. */
    static String summary(Histogram histogram) {
        return "p50 %.3f, p99 %.3f, p99.9 %.3f, longest %.3f ms of %,d"
                .formatted(
                        millis(histogram, 50),
                        millis(histogram, 99),
                        millis(histogram, 99.9),
                        millis(histogram, 100),
                        histogram.getTotalCount());
    }

    private static String cells(Histogram histogram) {
        StringBuilder text = new StringBuilder();
        for (double percentile : PERCENTILES) {
            text.append(" %.3f |".formatted(millis(histogram, percentile)));
        }
        return text.toString();
    }

    private static double millis(Histogram histogram, double percentile) {
        return histogram.getValueAtPercentile(percentile) / 1e6;
    }

    /** Writes {@code NAME.md}, {@code NAME.json} and {@code NAME.svg}. */
    public void write(Path directory, String name) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(
                directory.resolve(name + ".md"),
                table() + "\n![the same as a plot](%s.svg)\n".formatted(name));
        Map<String, Object> figures = new LinkedHashMap<>();
        loops.forEach((loopName, loop) -> {
            Map<String, Object> figure = new LinkedHashMap<>();
            figure.put("upsertsPerSecond", loop.rate);
            figure.put("millis", percentiles(loop.upserts));
            figure.put("machineMillis", percentiles(loop.machine));
            figure.put("merges", loop.merges);
            figures.put(loopName, figure);
        });
        new ObjectMapper()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .writeValue(
                        directory.resolve(name + ".json").toFile(),
                        Map.of("title", title, "setting", setting, "loops", figures));
        plot(directory.resolve(name + ".svg"));
    }

    private static Map<String, Double> percentiles(Histogram histogram) {
        Map<String, Double> millis = new LinkedHashMap<>();
        for (double percentile : PERCENTILES) {
            millis.put("p" + percentile, millis(histogram, percentile));
        }
        return millis;
    }

    private void plot(Path file) throws IOException {
        XYChart chart = new XYChartBuilder()
                .width(Picture.WIDTH)
                .height(520)
                .title(title)
                .xAxisTitle("one of so many is slower")
                .yAxisTitle("milliseconds")
                .build();
        chart.getStyler().setXAxisLogarithmic(true).setYAxisLogarithmic(true);
        loops.forEach((name, loop) -> {
            List<Double> shares = new ArrayList<>();
            List<Double> millis = new ArrayList<>();
            for (double slower = 2; slower <= loop.upserts.getTotalCount(); slower *= 1.3) {
                shares.add(slower);
                millis.add(Math.max(1e-3, millis(loop.upserts, 100 - 100 / slower)));
            }
            chart.addSeries(name, shares, millis).setMarker(SeriesMarkers.NONE);
        });
        Picture picture = new Picture();
        picture.add(chart);
        picture.write(file);
    }
}
