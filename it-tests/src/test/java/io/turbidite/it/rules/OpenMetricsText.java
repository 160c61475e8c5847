package io.turbidite.it.rules;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the text of a scrape by the rules of OpenMetrics 1.0, and refuses what is none.
 *
 * <p>Checked: the end mark, one family after the other, each described once and before its samples,
 * names and labels, suffixes and values by type, units in names, and that no series comes twice.
 * Timestamps and exemplars are refused, since we send none.
 */
final class OpenMetricsText {
    private static final Pattern NAME = Pattern.compile("[a-zA-Z_:][a-zA-Z0-9_:]*");
    private static final Pattern DESCRIPTION =
            Pattern.compile("# (TYPE|HELP|UNIT) ([^ ]+)(?: (.*))?");
    private static final Pattern SAMPLE = Pattern.compile("([^ {]+)(?:\\{(.*)})? ([^ ]+)");
    private static final Pattern LABEL =
            Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\[\\\\\"n])*)\"(,|$)");

    /** Each type with the suffixes that its samples may have. */
    private static final Map<String, Set<String>> SUFFIXES = Map.of(
            "counter", Set.of("_total", "_created"),
            "gauge", Set.of(""),
            "summary", Set.of("", "_count", "_sum", "_created"),
            "histogram", Set.of("_bucket", "_count", "_sum", "_created"),
            "info", Set.of("_info"),
            "stateset", Set.of(""),
            "unknown", Set.of(""));

    /** Type by family. */
    final Map<String, String> types = new LinkedHashMap<>();

    /** Unit by family, of those that have one. */
    final Map<String, String> units = new LinkedHashMap<>();

    /** Description by family, as it is sent. */
    final Map<String, String> texts = new LinkedHashMap<>();

    /** The names of samples, as queries have them. */
    final Set<String> samples = new HashSet<>();

    /** The names of the labels of each sample. */
    final Map<String, Set<String>> labels = new LinkedHashMap<>();

    private final Set<String> series = new HashSet<>();
    private final Set<String> described = new HashSet<>();
    private final Set<String> past = new HashSet<>();
    private String family = "";

    private OpenMetricsText() {}

    static OpenMetricsText parse(String text) {
        OpenMetricsText parsed = new OpenMetricsText();
        require(text.endsWith("\n# EOF\n"), "the text does not end with '# EOF'", text);
        String[] lines = text.split("\n", -1);
        for (int i = 0; i < lines.length - 2; i++) {
            if (lines[i].startsWith("#")) {
                parsed.describe(lines[i]);
            } else {
                parsed.sample(lines[i]);
            }
        }
        return parsed;
    }

    int seriesCount() {
        return series.size();
    }

    private static void require(boolean holds, String what, String where) {
        if (!holds) {
            throw new AssertionError(what + ": " + where);
        }
    }

    private void describe(String line) {
        Matcher matcher = DESCRIPTION.matcher(line);
        require(matcher.matches(), "neither a description nor the end", line);
        String name = matcher.group(2);
        require(NAME.matcher(name).matches(), "no name", line);
        enter(name, line);
        require(described.add(matcher.group(1) + " " + name), "described twice", line);
        String value = matcher.group(3) == null ? "" : matcher.group(3);
        switch (matcher.group(1)) {
            case "TYPE" -> {
                require(SUFFIXES.containsKey(value), "no type", line);
                types.put(name, value);
            }
            case "UNIT" -> {
                require(name.endsWith("_" + value), "unit not in name", line);
                units.put(name, value);
            }
            default -> texts.put(name, value);
        }
    }

    private void enter(String name, String line) {
        if (!name.equals(family)) {
            require(past.add(name), "families are mixed", line);
            family = name;
        }
    }

    private void sample(String line) {
        Matcher matcher = SAMPLE.matcher(line);
        require(matcher.matches(), "no sample", line);
        String name = matcher.group(1);
        require(NAME.matcher(name).matches(), "no name", line);
        String type = types.getOrDefault(family, "");
        require(!type.isEmpty() && name.startsWith(family), "not of the family " + family, line);
        String suffix = name.substring(family.length());
        require(
                SUFFIXES.getOrDefault(type, Set.of()).contains(suffix),
                "no suffix of a " + type,
                line);
        List<String> pairs = labelsOf(matcher.group(2), line);
        require(series.add(name + pairs.stream().sorted().toList()), "comes twice", line);
        double value = value(matcher.group(3), line);
        if (type.equals("counter") || suffix.equals("_count")) {
            require(value >= 0 && !Double.isInfinite(value), "no count", line);
        }
        samples.add(name);
    }

    private List<String> labelsOf(String text, String line) {
        List<String> pairs = new ArrayList<>();
        if (text == null) {
            return pairs;
        }
        Set<String> names = new HashSet<>();
        Matcher matcher = LABEL.matcher(text);
        int at = 0;
        while (at < text.length()) {
            require(matcher.find(at) && matcher.start() == at, "no label", line);
            require(names.add(matcher.group(1)), "a label twice", line);
            require(!matcher.group(1).startsWith("__"), "a reserved label", line);
            pairs.add(matcher.group(1) + "=" + matcher.group(2));
            at = matcher.end();
        }
        require(!text.endsWith(","), "a comma too many", line);
        labels.computeIfAbsent(line.substring(0, line.indexOf('{')), name -> new HashSet<>())
                .addAll(names);
        return pairs;
    }

    private static double value(String text, String line) {
        return switch (text) {
            case "+Inf" -> Double.POSITIVE_INFINITY;
            case "-Inf" -> Double.NEGATIVE_INFINITY;
            case "NaN" -> Double.NaN;
            default -> {
                require(text.matches("[-+]?[0-9.]+([eE][-+]?[0-9]+)?"), "no number", line);
                yield Double.parseDouble(text);
            }
        };
    }
}
