package io.turbidite.it.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * Draws the pictures of {@code docs/benchmarks.md} from the figures of {@code docs/experiments}.
 * Bars lie, one group for each thing that was done, and each has its figure behind it.
 */
final class BenchmarkPictures {
    static final Path ROOT = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static final List<String> COLOURS =
            List.of("#8c7a45", "#5b7ea4", "#a4605b", "#5f8f62", "#8a6aa0", "#7c7c7c");
    private static final int LEFT = 230;
    private static final int WIDTH = 760;
    private static final int BAR = 16;

    /**
     * A picture: figures by group and by name.
     *
     * @param log whether a bar's length goes by the figure's logarithm, from the least on
     */
    private record Chart(
            String title, String unit, boolean log, Map<String, Map<String, Double>> groups) {}

    private BenchmarkPictures() {}

    /** Each file's name with its content. */
    static Map<String, String> all() throws IOException {
        Map<String, String> pictures = new LinkedHashMap<>();
        pictures.put("bench-engines.svg", draw(engines()));
        pictures.put("bench-strategies.svg", draw(strategies()));
        pictures.put("bench-filters.svg", draw(filters()));
        pictures.put("bench-sql.svg", draw(statements()));
        pictures.put("bench-latency.svg", draw(latency()));
        return pictures;
    }

    private static Chart engines() throws IOException {
        JsonNode figures = table("engine.json", "1 secondary index");
        Map<String, Map<String, Double>> groups = new LinkedHashMap<>();
        for (String work : List.of(
                "upsert, us",
                "get present, us",
                "get absent, us",
                "scan, ms",
                "query by secondary, 1 %, ms",
                "query by secondary, 10 %, ms")) {
            double peer = median(figures.get(work).get("RocksDB"));
            Map<String, Double> bars = new LinkedHashMap<>();
            for (String engine : List.of("Turbidite", "RocksDB", "Hyracks")) {
                bars.put(engine, median(figures.get(work).get(engine)) / peer);
            }
            groups.put(work.substring(0, work.lastIndexOf(',')), bars);
        }
        return new Chart("CPU of the whole process, in parts of RocksDB's", "", false, groups);
    }

    private static Chart strategies() throws IOException {
        JsonNode figures = table("upsert.json", "Upserts by update ratio (LUO19 Figure 12), cache");
        Map<String, Map<String, Double>> groups = new LinkedHashMap<>();
        for (String share : List.of("0", "10", "50")) {
            Map<String, Double> bars = new LinkedHashMap<>();
            for (String strategy : List.of(
                    "eager", "validation, repair", "mutable-bitmap", "deleted-key", "deferred")) {
                bars.put(
                        strategy,
                        median(figures.get(share + " % updates, us an upsert").get(strategy)));
            }
            groups.put(share + " % updates", bars);
        }
        return new Chart("An upsert with a cache of 5 % of the data", "µs", false, groups);
    }

    private static Chart filters() throws IOException {
        JsonNode figures = table("recency.json", "ALS15 Figure 6");
        Map<String, Map<String, Double>> groups = new LinkedHashMap<>();
        for (String span : List.of("1.0", "42.0", "540.0", "3500.0")) {
            Map<String, Double> bars = new LinkedHashMap<>();
            for (String kind : List.of("with filter", "without filter")) {
                bars.put(kind, median(figures.get(kind).get(span)));
            }
            groups.put(
                    "newest %.2g %% of the time"
                            .formatted(100 * Double.parseDouble(span) / 3500)
                            .replace("1.0e+02", "100"),
                    bars);
        }
        return new Chart("A query for recent tweets in a window", "ms of CPU", true, groups);
    }

    private static Chart statements() throws IOException {
        JsonNode figures = table("sql.json", "Statements of SQL");
        Map<String, Map<String, Double>> groups = new LinkedHashMap<>();
        figures.properties().forEach(statement -> {
            Map<String, Double> bars = new LinkedHashMap<>();
            for (String engine : List.of("Turbidite", "DuckDB")) {
                bars.put(engine, median(statement.getValue().get(engine)));
            }
            groups.put(statement.getKey().replaceFirst(": .*|, all fields", ""), bars);
        });
        return new Chart("Statements over 336,776 flights", "ms of CPU", true, groups);
    }

    private static Chart latency() throws IOException {
        JsonNode loops = read("latency.json").getFirst().get("loops");
        Map<String, Map<String, Double>> groups = new LinkedHashMap<>();
        for (String durability : List.of("sync", "interval")) {
            Map<String, Double> bars = new LinkedHashMap<>();
            for (String share : List.of("50.0", "99.0", "99.9")) {
                bars.put(
                        share.replace(".0", "") + " % are faster",
                        loops.get("closed, " + durability)
                                .get("millis")
                                .get("p" + share)
                                .asDouble());
            }
            groups.put("durability " + durability, bars);
        }
        return new Chart("How long an upsert takes while merges run", "ms", true, groups);
    }

    private static List<JsonNode> read(String name) throws IOException {
        JsonNode read = new ObjectMapper()
                .readTree(Files.readString(ROOT.resolve("docs/experiments").resolve(name)));
        List<JsonNode> tables = new ArrayList<>();
        if (read.isArray()) {
            read.forEach(tables::add);
        } else {
            tables.add(read);
        }
        return tables;
    }

    private static JsonNode table(String name, String title) throws IOException {
        return read(name).stream()
                .filter(table -> table.get("title").asText().startsWith(title))
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " has no table " + title))
                .get("figures");
    }

    private static double median(JsonNode rounds) {
        List<Double> sorted = new ArrayList<>();
        rounds.forEach(round -> sorted.add(round.asDouble()));
        sorted.sort(null);
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1
                ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    private static String draw(Chart chart) {
        List<String> names = new ArrayList<>();
        double most = 0;
        double least = Double.MAX_VALUE;
        int bars = 0;
        for (Map<String, Double> group : chart.groups().values()) {
            bars += group.size();
            for (Map.Entry<String, Double> bar : group.entrySet()) {
                most = Math.max(most, bar.getValue());
                least = Math.min(least, bar.getValue());
                if (!names.contains(bar.getKey())) {
                    names.add(bar.getKey());
                }
            }
        }
        int height = 76 + bars * BAR + chart.groups().size() * 14 + 14;
        StringBuilder svg = new StringBuilder(String.format(
                Locale.ROOT,
                """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" \
                font-family="Helvetica, Arial, sans-serif" font-size="12">
                <rect width="%d" height="%d" fill="#fbfaf7"/>
                <text x="16" y="24" font-weight="bold" font-size="13" fill="#222">%s</text>
                """,
                WIDTH,
                height,
                WIDTH,
                height,
                chart.title()
                        + (chart.unit().isEmpty() ? "" : ", " + chart.unit())
                        + (chart.log() ? "; bars go by its logarithm" : "")));
        legend(svg, names);
        int y = 76;
        for (Map.Entry<String, Map<String, Double>> group : chart.groups().entrySet()) {
            int middle = y + group.getValue().size() * BAR / 2 + 4;
            svg.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#222\">%s</text>\n",
                    LEFT - 12,
                    middle,
                    group.getKey()));
            for (Map.Entry<String, Double> bar : group.getValue().entrySet()) {
                double part = chart.log()
                        ? (Math.log(bar.getValue() / least) / Math.log(most / least) * 0.97 + 0.03)
                        : bar.getValue() / most;
                double length = part * (WIDTH - LEFT - 80);
                svg.append(String.format(
                        Locale.ROOT,
                        "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
                        LEFT,
                        y,
                        length,
                        BAR - 3,
                        COLOURS.get(names.indexOf(bar.getKey()))));
                svg.append(String.format(
                        Locale.ROOT,
                        "<text x=\"%.1f\" y=\"%d\" fill=\"#444\">%s</text>\n",
                        LEFT + length + 6,
                        y + BAR - 5,
                        short3(bar.getValue())));
                y += BAR;
            }
            y += 14;
        }
        return svg.append("</svg>\n").toString();
    }

    private static void legend(StringBuilder svg, List<String> names) {
        int x = 16;
        for (String name : names) {
            svg.append(String.format(
                    Locale.ROOT, """
                    <rect x="%d" y="42" width="12" height="12" fill="%s"/>
                    <text x="%d" y="53" fill="#222">%s</text>
                    """, x, COLOURS.get(names.indexOf(name)), x + 18, name));
            x += 40 + 8 * name.length();
        }
    }

    /** Two digits that count, or all of those before the point. */
    private static String short3(double figure) {
        int digits = figure >= 10 ? 0 : figure >= 1 ? 1 : (int) Math.ceil(-Math.log10(figure)) + 1;
        return String.format(Locale.ROOT, "%." + digits + "f", figure);
    }
}
