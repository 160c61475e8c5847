package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;
import io.turbidite.core.memory.ByteSize;
import io.turbidite.feeds.DefinitionException.Problem;
import io.turbidite.feeds.YamlNode.Entry;
import io.turbidite.feeds.YamlNode.Mapping;
import io.turbidite.feeds.YamlNode.Scalar;
import io.turbidite.feeds.YamlNode.Scalar.Kind;
import io.turbidite.feeds.YamlNode.Sequence;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One mapping of a definition while it is read: hands out values by key with their type checked,
 * notes every problem instead of throwing, and at its end reports the keys that nobody asked for.
 *
 * <p>A value that is missing or wrong comes back as null (or the default), so that reading goes on
 * and the author sees all problems at once. <em>Confined to one thread.</em>
 */
final class Section {
    /**
     * The problems found and the lines of the keys met, shared by all sections of a file.
     *
     * @param paths is asked about a path that an index names, before anything is looked for there
     */
    record Findings(
            String file,
            List<Problem> problems,
            Map<String, Integer> lineByKey,
            Consumer<String> paths) {
        void add(int line, String key, String message) {
            problems.add(new Problem(file, line, key, message));
        }
    }

    private final Findings findings;
    private final String path;
    private final int line;
    private final Mapping mapping;
    private final Set<String> known = new LinkedHashSet<>();

    private Section(Findings findings, String path, int line, Mapping mapping) {
        this.findings = findings;
        this.path = path;
        this.line = line;
        this.mapping = mapping;
    }

    /**
     * The section that {@code node} is, or null (and a problem) if it is no mapping.
     *
     * @param line where it begins: its key's, for a mapping's own is that of its first key
     */
    static @Nullable Section of(Findings findings, String path, int line, YamlNode node) {
        if (node instanceof Mapping mapping) {
            findings.lineByKey.put(path, line);
            mapping.entries()
                    .forEach((key, entry) -> findings.lineByKey.put(join(path, key), entry.line()));
            return new Section(findings, path, line, mapping);
        }
        findings.add(
                node.line(), path, "must be a mapping of keys to values, not " + node.described());
        return null;
    }

    /** Asks whether the author may name a path of this machine; throws if not. */
    void requireAllowed(String pathOfMachine) {
        findings.paths.accept(pathOfMachine);
    }

    String path(String key) {
        return join(path, key);
    }

    /** The line of {@code key}, or the section's where it is missing. */
    int line(String key) {
        Entry entry = mapping.entries().get(key);
        return entry == null ? line : entry.line();
    }

    /** Whether a key is there, with whatever value; it stays unknown. */
    boolean has(String key) {
        return mapping.entries().containsKey(key);
    }

    void problem(String key, String message) {
        findings.add(line(key), path(key), message);
    }

    /** The keys in the order they were written; for mappings whose keys are the author's. */
    Set<String> keys() {
        return Collections.unmodifiableSet(mapping.entries().keySet());
    }

    /** The value of {@code key}, of whatever type; a key without a value is a problem. */
    @Nullable
    YamlNode value(String key) {
        known.add(key);
        Entry entry = mapping.entries().get(key);
        if (entry != null
                && entry.value() instanceof Scalar scalar
                && scalar.kind() == Kind.NOTHING) {
            problem(key, "has no value; give one or leave the key out");
            return null;
        }
        return entry == null ? null : entry.value();
    }

    /** Notes that {@code key} is needed but not there. */
    void missing(String key) {
        if (!mapping.entries().containsKey(key)) {
            problem(key, "is missing");
        }
    }

    @Nullable
    Section child(String key) {
        YamlNode value = value(key);
        return value == null ? null : of(findings, path(key), line(key), value);
    }

    /** The mappings in a list. */
    List<Section> children(String key) {
        YamlNode value = value(key);
        List<Section> sections = new ArrayList<>();
        if (value instanceof Sequence sequence) {
            for (int i = 0; i < sequence.items().size(); i++) {
                YamlNode item = sequence.items().get(i);
                Section section = of(findings, path(key) + "[" + i + "]", item.line(), item);
                if (section != null) {
                    sections.add(section);
                }
            }
        } else if (value != null) {
            problem(key, "must be a list, not " + value.described());
        }
        return sections;
    }

    @Nullable
    String text(String key) {
        YamlNode value = value(key);
        return value == null ? null : textOf(key, value);
    }

    /** The single value of {@code key} as it is written, a text or not. */
    @Nullable
    String scalar(String key) {
        YamlNode value = value(key);
        if (value instanceof Scalar scalar) {
            return scalar.text();
        }
        if (value != null) {
            problem(key, "must be a single value, not " + value.described());
        }
        return null;
    }

    /** The text of {@code key}; where it is missing that is a problem. */
    @Nullable
    String requiredText(String key) {
        missing(key);
        return text(key);
    }

    /** One text or a list of them. */
    List<String> texts(String key) {
        YamlNode value = value(key);
        List<String> texts = new ArrayList<>();
        if (value instanceof Sequence sequence) {
            if (sequence.items().isEmpty()) {
                problem(key, "is an empty list");
            }
            for (YamlNode item : sequence.items()) {
                String text = textOf(key, item);
                if (text != null) {
                    texts.add(text);
                }
            }
        } else if (value instanceof Mapping) {
            problem(
                    key,
                    "must be a text or a list of texts such as [a, b], not " + value.described());
        } else if (value != null) {
            String text = textOf(key, value);
            if (text != null) {
                texts.add(text);
            }
        }
        return texts;
    }

    boolean truth(String key, boolean otherwise) {
        YamlNode value = value(key);
        if (value instanceof Scalar scalar && scalar.kind() == Kind.TRUTH) {
            return Boolean.parseBoolean(scalar.text());
        }
        if (value != null) {
            problem(key, "must be true or false, not " + value.described());
        }
        return otherwise;
    }

    /** A whole number from {@code min} to {@code max}. */
    @Nullable
    Integer integer(String key, int min, int max) {
        YamlNode value = value(key);
        if (value == null) {
            return null;
        }
        if (value instanceof Scalar scalar && scalar.kind() == Kind.NUMBER) {
            try {
                int number = new BigDecimal(scalar.text()).intValueExact();
                if (number >= min && number <= max) {
                    return number;
                }
            } catch (ArithmeticException | NumberFormatException e) {
                // reported below like any other number that doesn't fit
            }
        }
        problem(
                key,
                "must be a whole number from %d to %d, not %s"
                        .formatted(min, max, value.described()));
        return null;
    }

    /** A count of bytes: {@code 1048576}, {@code 64MiB}, {@code 1 GiB}. */
    @Nullable
    Long bytes(String key) {
        YamlNode value = value(key);
        if (value == null) {
            return null;
        }
        if (value instanceof Scalar scalar) {
            return convert(key, scalar.text(), text -> ByteSize.parse(key, text));
        }
        problem(
                key,
                "must be a number of bytes such as 1048576, 64MiB or 1GiB, not "
                        + value.described());
        return null;
    }

    /** All keys that were not asked for, with their values as they are written. */
    Map<String, String> scalars() {
        Map<String, String> values = new LinkedHashMap<>();
        for (String key : keys()) {
            if (!known.contains(key)) {
                YamlNode value = value(key);
                if (value instanceof Scalar scalar) {
                    values.put(key, scalar.text());
                } else if (value != null) {
                    problem(key, "must be a single value, not " + value.described());
                }
            }
        }
        return values;
    }

    /**
     * One of a closed set of words.
     *
     * @param available the words that this release has
     * @param named others that the format knows; one of those gets its own message
     */
    @Nullable
    String choice(String key, List<String> available, List<String> named) {
        String text = text(key);
        if (text == null || available.contains(text)) {
            return text;
        }
        problem(
                key,
                "'%s' is %s; %s %s"
                        .formatted(
                                text,
                                named.contains(text) ? "not available in this release" : "unknown",
                                available.size() == 1 ? "the only choice is" : "choices are",
                                String.join(", ", available)));
        return null;
    }

    /**
     * Runs a check or a conversion of the value of {@code key}; what it complains of is a problem.
     */
    <A, T> @Nullable T convert(String key, A value, Function<A, T> conversion) {
        try {
            return conversion.apply(value);
        } catch (InvalidRequestException e) {
            problem(key, "is wrong: " + e.getMessage());
            return null;
        }
    }

    /** Call last: every key that was not asked for is a problem. */
    void end() {
        mapping.entries().forEach((key, entry) -> {
            if (!known.contains(key)) {
                findings.add(
                        entry.line(),
                        path(key),
                        "is an unknown key; keys here are %s%s"
                                .formatted(String.join(", ", known), NearestName.hint(key, known)));
            }
        });
    }

    /**
     * Accepts every further key if {@code key} says one of {@code named}: what this release does
     * not have may have keys that it does not know.
     *
     * @return whether it does
     */
    boolean ignoreRestOf(String key, List<String> named) {
        Entry entry = mapping.entries().get(key);
        boolean isNamed = entry != null
                && entry.value() instanceof Scalar scalar
                && named.contains(scalar.text());
        if (isNamed) {
            known.addAll(mapping.entries().keySet());
        }
        return isNamed;
    }

    private @Nullable String textOf(String key, YamlNode value) {
        if (value instanceof Scalar scalar && scalar.kind() == Kind.TEXT) {
            return scalar.text();
        }
        problem(
                key,
                value instanceof Scalar
                        ? "must be text, not %s; put it in quotes if it is meant so"
                                .formatted(value.described())
                        : "must be text, not " + value.described());
        return null;
    }

    private static String join(String path, String key) {
        return path.isEmpty() ? key : path + "." + key;
    }
}
