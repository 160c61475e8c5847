package io.turbidite.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Figures of several engines over several rounds. What is quoted is the median of the rounds and
 * the ratio of medians: machines are shared and noisy.
 */
public final class Report {
    private final String title;
    private final List<String> engines;
    private final Map<String, String> setting = new LinkedHashMap<>();

    /** Work, then engine, then one figure a round. */
    private final Map<String, Map<String, List<Double>>> figures = new LinkedHashMap<>();

    private boolean hasPicture = true;

    /**
     * @param engines in the order of the columns; the first is set against each other one
     */
    public Report(String title, List<String> engines) {
        this.title = title;
        this.engines = List.copyOf(engines);
    }

    /** A fact that a reader must know: machine, sizes, cache state, command. */
    public Report setting(String name, Object value) {
        setting.put(name, value.toString());
        return this;
    }

    public void add(String work, String engine, double figure) {
        figures.computeIfAbsent(work, key -> new LinkedHashMap<>())
                .computeIfAbsent(engine, key -> new ArrayList<>())
                .add(figure);
    }

    /** The median over the rounds; NaN for work that the engine had no part in. */
    private static double median(Map<String, List<Double>> byEngine, String engine) {
        List<Double> rounds = byEngine.get(engine);
        if (rounds == null) {
            return Double.NaN;
        }
        double[] sorted =
                rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted.length % 2 == 1
                ? sorted[sorted.length / 2]
                : (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
    }

    /** The median of an engine's figures for some work; NaN if there are none. */
    public double figure(String work, String engine) {
        return median(figures.getOrDefault(work, Map.of()), engine);
    }

    /** The works that have figures, in the order in which they came. */
    public List<String> works() {
        return List.copyOf(figures.keySet());
    }

    /** The table: a row for each work, the medians, and the first engine's share of each other. */
    public String table() {
        StringBuilder text = new StringBuilder("# ").append(title).append("\n\n");
        setting.forEach((name, value) -> text.append("- %s: %s%n".formatted(name, value)));
        text.append("\n| work |");
        engines.forEach(engine -> text.append(" %s |".formatted(engine)));
        engines.stream()
                .skip(1)
                .forEach(e -> text.append(" %s / %s |".formatted(engines.get(0), e)));
        text.append("\n|---|").append("---|".repeat(2 * engines.size() - 1)).append('\n');
        figures.forEach((work, byEngine) -> {
            text.append("| ").append(work).append(" |");
            for (String engine : engines) {
                text.append(cell("%.3f", median(byEngine, engine)));
            }
            double first = median(byEngine, engines.get(0));
            for (String engine : engines.subList(1, engines.size())) {
                text.append(cell("%.2f", first / median(byEngine, engine)));
            }
            text.append('\n');
        });
        return text.toString();
    }

    private static String cell(String format, double figure) {
        return Double.isNaN(figure) || Double.isInfinite(figure)
                ? " |"
                : " " + String.format(Locale.ROOT, format, figure) + " |";
    }

    /** Has no picture: a table says it all. */
    public Report withoutPicture() {
        hasPicture = false;
        return this;
    }

    private Picture picture() {
        return hasPicture ? Panels.of(title, engines, figures) : new Picture();
    }

    /** Writes {@code NAME.md}, {@code NAME.json} and {@code NAME.svg}. */
    public void write(Path directory, String name) throws IOException {
        writeAll(directory, name, List.of(this));
    }

    /** Writes several reports into one {@code NAME.md} and {@code NAME.json}, with a plot each. */
    public static void writeAll(Path directory, String name, List<Report> reports)
            throws IOException {
        Files.createDirectories(directory);
        StringBuilder text = new StringBuilder();
        List<Map<String, Object>> json = new ArrayList<>();
        for (int i = 0; i < reports.size(); i++) {
            Report report = reports.get(i);
            String plot = reports.size() == 1 ? name + ".svg" : "%s-%d.svg".formatted(name, i + 1);
            text.append(report.table()).append('\n');
            Picture picture = report.picture();
            if (picture.isEmpty()) {
                Picture.delete(directory.resolve(plot));
            } else {
                text.append("![the same as a plot](%s)\n\n".formatted(plot));
                picture.write(directory.resolve(plot));
            }
            json.add(Map.of(
                    "title", report.title, "setting", report.setting, "figures", report.figures));
        }
        Files.writeString(directory.resolve(name + ".md"), text.toString().stripTrailing() + "\n");
        new ObjectMapper()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .writeValue(
                        directory.resolve(name + ".json").toFile(),
                        json.size() == 1 ? json.get(0) : json);
    }

    /** The machine, as far as a JVM can tell. */
    public static String machine() {
        return "%d processors, %s, JDK %s"
                .formatted(
                        Runtime.getRuntime().availableProcessors(),
                        System.getProperty("os.arch"),
                        Runtime.version());
    }

    @Override
    public String toString() {
        return title + Arrays.toString(figures.keySet().toArray());
    }
}
