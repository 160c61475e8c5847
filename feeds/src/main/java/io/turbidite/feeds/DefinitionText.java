package io.turbidite.feeds;

import io.turbidite.core.catalog.FeedOption;
import io.turbidite.feeds.DefinitionException.Problem;
import io.turbidite.feeds.YamlNode.Entry;
import io.turbidite.feeds.YamlNode.Mapping;
import io.turbidite.feeds.YamlNode.Scalar;
import io.turbidite.feeds.YamlNode.Scalar.Kind;
import io.turbidite.feeds.YamlNode.Sequence;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A definition as its keys, and back. Static, without state. */
public final class DefinitionText {
    private static final String FILE = "definition";

    /** With what a text begins that is read as YAML. */
    private static final String YAML_STARTS = "{[\"";

    private static final String INDENT = "  ";

    private DefinitionText() {}

    /**
     * The text of a definition.
     *
     * @param feed its name
     * @param options its other keys; each once, none below another one
     * @throws DefinitionException naming each option that is no YAML, or lies within another one
     */
    public static String of(String feed, List<FeedOption> options) {
        List<Problem> problems = new ArrayList<>();
        Map<String, Object> root = new LinkedHashMap<>();
        root.put("feed", new Scalar(1, feed, Kind.TEXT));
        for (FeedOption option : options) {
            try {
                if (!put(root, option.path(), node(option))) {
                    problems.add(new Problem(
                            FILE,
                            1,
                            String.join(".", option.path()),
                            "is given beside a key above or below it: write one of them"));
                }
            } catch (DefinitionException e) {
                for (Problem one : e.problems()) {
                    problems.add(
                            new Problem(FILE, 1, String.join(".", option.path()), one.message()));
                }
            }
        }
        if (!problems.isEmpty()) {
            throw new DefinitionException(problems);
        }
        StringBuilder text = new StringBuilder();
        write(root, "", text);
        return text.toString();
    }

    /**
     * The keys of a definition, each with those above it, and their values; lists as YAML in one
     * line. In the order of the text.
     *
     * @throws DefinitionException if it is no YAML
     */
    public static Map<String, String> keys(String text) {
        Map<String, String> keys = new LinkedHashMap<>();
        flatten("", YamlTree.read(FILE, text), keys);
        return Collections.unmodifiableMap(keys);
    }

    private static YamlNode node(FeedOption option) {
        String value = option.value();
        boolean isYaml =
                !option.isText() || (!value.isEmpty() && YAML_STARTS.indexOf(value.charAt(0)) >= 0);
        return isYaml ? YamlTree.read(FILE, value) : new Scalar(1, value, Kind.TEXT);
    }

    /** Whether there was room for it. */
    @SuppressWarnings("unchecked") // the maps are made here
    private static boolean put(Map<String, Object> root, List<String> path, YamlNode node) {
        Map<String, Object> at = root;
        for (String key : path.subList(0, path.size() - 1)) {
            if (!(at.computeIfAbsent(key, _ -> new LinkedHashMap<String, Object>())
                    instanceof Map<?, ?> below)) {
                return false;
            }
            at = (Map<String, Object>) below;
        }
        return at.putIfAbsent(path.getLast(), node) == null;
    }

    private static void write(Map<?, ?> mapping, String indent, StringBuilder text) {
        mapping.forEach((key, value) -> {
            text.append(indent).append(quoted(String.valueOf(key))).append(':');
            if (value instanceof Map<?, ?> below) {
                text.append('\n');
                write(below, indent + INDENT, text);
            } else {
                text.append(' ').append(line((YamlNode) value)).append('\n');
            }
        });
    }

    /** A value in one line. */
    private static String line(YamlNode node) {
        return switch (node) {
            case Mapping mapping ->
                mapping.entries().entrySet().stream()
                        .map(one -> quoted(one.getKey()) + ": "
                                + line(one.getValue().value()))
                        .collect(Collectors.joining(", ", "{", "}"));
            case Sequence sequence ->
                sequence.items().stream()
                        .map(DefinitionText::line)
                        .collect(Collectors.joining(", ", "[", "]"));
            case Scalar scalar ->
                scalar.kind() == Kind.TEXT ? quoted(scalar.text()) : plain(scalar);
        };
    }

    private static String plain(Scalar scalar) {
        return scalar.kind() == Kind.NOTHING ? "\"\"" : scalar.text();
    }

    /** A text, in quotes where YAML would take it for something else. */
    private static String quoted(String text) {
        return text.matches("[A-Za-z_/][A-Za-z0-9_./-]*")
                        && YamlTree.read(FILE, text) instanceof Scalar read
                        && read.kind() == Kind.TEXT
                ? text
                : escaped(text);
    }

    /** In double quotes. */
    private static String escaped(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (Character.isISOControl(c)) {
                quoted.append("\\u%04x".formatted((int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }

    private static void flatten(String path, YamlNode node, Map<String, String> into) {
        if (node instanceof Mapping mapping && !mapping.entries().isEmpty()) {
            for (Map.Entry<String, Entry> one : mapping.entries().entrySet()) {
                String key = one.getKey().matches("[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
                        ? one.getKey()
                        : '"' + one.getKey() + '"';
                flatten(path.isEmpty() ? key : path + "." + key, one.getValue().value(), into);
            }
        } else {
            into.put(path, node instanceof Scalar scalar ? scalar.text() : line(node));
        }
    }
}
