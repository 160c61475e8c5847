package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.ByteSize;
import io.turbidite.feeds.FeedDefinition.DatasetPart;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.FeedDefinition.PolicyPart;
import io.turbidite.feeds.FeedDefinition.SourcePart;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.Transform;
import io.turbidite.feeds.parse.Transform.Way;
import io.turbidite.feeds.source.SourceKind;
import io.turbidite.feeds.source.kafka.KafkaKind;

import org.jspecify.annotations.Nullable;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Turns the sections of a definition that say where records come from and what becomes of them on
 * the way into their parts. <em>Immutable.</em>
 *
 * <p>Each closed set of words may be here twice: the words that this release has, and the words
 * that the format names. A word of only the second kind gets a message of its own.
 *
 * @param directory that relative paths start at
 */
record SourceReader(Path directory) {
    private static final List<String> SOURCES_NAMED = List.of("tweets");
    private static final List<String> PARSERS = List.of("csv", "json", "avro");
    private static final String SCHEMAS = "schemas";
    private static final int SCHEMA_COUNT_MAX = 1_000;
    private static final List<String> POLICIES =
            List.of("basic", "spill", "discard", "throttle", "elastic");

    /** By default a long burst leaves a sample of a hundredth. */
    private static final int KEPT_ONE_IN = 100;

    private static final long SPILL_BYTES_MAX = 1L << 30;
    private static final int KEPT_ONE_IN_MAX = 1_000_000;
    private static final int RATE_MAX = 1_000_000_000;

    /** The section {@code source}; null only if there are problems. */
    @Nullable
    SourcePart source(Section root) {
        root.missing("source");
        Section section = root.child("source");
        if (section == null) {
            return null;
        }
        section.missing("kind");
        String name = section.choice("kind", SourceKinds.names(), SOURCES_NAMED);
        if (section.ignoreRestOf("kind", SOURCES_NAMED)) {
            return null;
        }
        SourceKind kind = SourceKinds.find(name == null ? SourceKinds.FILE : name);
        if (kind == null) {
            return null;
        }
        Map<String, String> options = new TreeMap<>();
        boolean sound = true;
        for (String key : new TreeSet<>(kind.required())) {
            section.missing(key);
            sound &= put(section, kind, key, options) != null;
        }
        for (String key : new TreeSet<>(kind.optional())) {
            sound &= section.value(key) == null || put(section, kind, key, options) != null;
        }
        section.end();
        return sound ? new SourcePart(kind.name(), options, directory) : null;
    }

    /** Null if there is no value, or not a sound one. */
    private @Nullable String put(
            Section section, SourceKind kind, String key, Map<String, String> options) {
        boolean isPath = key.equals("path");
        String value = isPath ? section.text(key) : section.scalar(key);
        if (value != null) {
            options.put(key, value);
            if (section.convert(key, value, text -> checked(kind, key, text)) == null) {
                return null;
            }
        }
        return isPath && value != null && section.convert(key, value, this::resolve) == null
                ? null
                : value;
    }

    private static String checked(SourceKind kind, String key, String value) {
        kind.check(key, value);
        return value;
    }

    private Path resolve(String path) {
        try {
            return directory.resolve(path);
        } catch (InvalidPathException e) {
            throw new InvalidRequestException("no path: " + e.getReason(), e);
        }
    }

    /** The section {@code parser}; null only if there are problems. */
    @Nullable
    FormatPart format(Section root) {
        root.missing("parser");
        Section section = root.child("parser");
        if (section == null) {
            return null;
        }
        section.missing("kind");
        String kind = section.choice("kind", PARSERS, List.of());
        if (kind == null) {
            return null;
        }
        if (kind.equals("json")) {
            section.end();
            return new FormatPart.Json();
        }
        if (kind.equals("avro")) {
            FormatPart avro = avro(section);
            section.end();
            return avro;
        }
        boolean header = section.truth("header", true);
        String separator = section.text("separator");
        List<String> columns = section.texts("columns");
        section.end();
        if (separator != null && separator.length() != 1) {
            section.problem("separator", "must be one character, not '%s'".formatted(separator));
            return null;
        }
        char character = separator == null ? ',' : separator.charAt(0);
        if (section.convert("separator", character, CsvFormat::checkSeparator) == null) {
            return null;
        }
        String key = columns.isEmpty() ? "header" : "columns";
        CsvFormat csv = section.convert(key, columns, c -> new CsvFormat(character, header, c));
        return csv == null ? null : new FormatPart.Csv(csv);
    }

    private @Nullable FormatPart avro(Section section) {
        if (section.value(SCHEMAS) == null) {
            return new FormatPart.AvroFiles();
        }
        Section paths = section.child(SCHEMAS);
        if (paths == null) {
            return null;
        }
        SortedMap<Integer, String> schemas = new TreeMap<>();
        for (String key : paths.keys()) {
            String path = paths.text(key);
            Integer id = paths.convert(key, key, SourceReader::schemaId);
            if (path != null && id != null && paths.convert(key, path, this::resolve) != null) {
                schemas.put(id, path);
            }
        }
        int count = paths.keys().size();
        if (count == 0 || count > SCHEMA_COUNT_MAX) {
            section.problem(
                    SCHEMAS, "has 1 to %d IDs with their files".formatted(SCHEMA_COUNT_MAX));
        }
        return schemas.size() == count ? new FormatPart.AvroMessages(schemas, directory) : null;
    }

    private static Integer schemaId(String key) {
        if (!key.matches("0|[1-9]\\d{0,9}") || Long.parseLong(key) > Integer.MAX_VALUE) {
            throw new InvalidRequestException("the ID of a schema is a whole number from 0 to %d"
                    .formatted(Integer.MAX_VALUE));
        }
        return Integer.valueOf(key);
    }

    /** What does not go together, told at the parser. */
    static void checkAvro(Section root, SourcePart source, FormatPart format) {
        if (!format.isAvro()) {
            return;
        }
        boolean isOfFiles = format instanceof FormatPart.AvroFiles;
        switch (source.kind()) {
            case SourceKinds.FILE -> {
                if (!isOfFiles) {
                    root.problem(
                            "parser",
                            "schemas go with kafka: an object file has its schema with it");
                }
            }
            case KafkaKind.NAME -> {
                if (isOfFiles) {
                    root.problem(
                            "parser",
                            "of kind avro has schemas with kafka: for each ID of a message's schema its file");
                }
            }
            default ->
                root.problem(
                        "parser",
                        "of kind avro goes with the sources file and kafka, not with %s"
                                .formatted(source.kind()));
        }
    }

    /** The section {@code transform}, checked against the dataset if that is sound. */
    List<Transform> transforms(Section root, @Nullable DatasetPart dataset) {
        Section section = root.child("transform");
        List<Transform> transforms = new ArrayList<>();
        if (section == null) {
            return transforms;
        }
        for (String field : section.keys()) {
            Transform transform = transform(section, field);
            if (transform == null) {
                continue;
            }
            transforms.add(transform);
            if (dataset != null) {
                section.convert(field, transform, t -> {
                    t.check(dataset.type());
                    return t;
                });
            }
        }
        return transforms;
    }

    private static @Nullable Transform transform(Section section, String field) {
        if (!(section.value(field) instanceof YamlNode.Mapping)) {
            String text = section.text(field);
            return text == null ? null : new Transform(field, text);
        }
        Section way = section.child(field);
        if (way == null) {
            return null;
        }
        boolean looksUp = way.keys().contains("lookup");
        String name = way.requiredText(looksUp ? "lookup" : "function");
        List<String> texts = way.texts(looksUp ? "key" : "of");
        String wanted = looksUp ? way.requiredText("field") : "";
        if (looksUp) {
            way.missing("key");
        }
        way.end();
        if (name == null || wanted == null) {
            return null;
        }
        if (looksUp) {
            return new Transform(field, texts, new Way.LookUp(name, wanted));
        }
        Set<String> known = RecordFunctions.load().keySet();
        if (!known.contains(name)) {
            way.problem(
                    "function",
                    "'%s' is none that this process has: %s"
                            .formatted(name, known.isEmpty() ? "it has none" : known));
            return null;
        }
        return new Transform(field, texts, new Way.Function(name));
    }

    /** The section {@code policy}. */
    PolicyPart policy(Section root, boolean deletes) {
        Section section = root.child("policy");
        if (section == null) {
            return new PolicyPart.Basic();
        }
        section.missing("kind");
        String kind = section.choice("kind", POLICIES, List.of());
        if (kind == null) {
            section.end();
            return new PolicyPart.Basic();
        }
        PolicyPart policy = policy(section, kind);
        section.end();
        boolean leavesOut =
                policy instanceof PolicyPart.Discard || policy instanceof PolicyPart.Throttle;
        if (deletes && leavesOut) {
            section.problem(
                    "kind",
                    "%s does not go with mode delete: no delete is left out".formatted(kind));
        }
        return policy;
    }

    private static PolicyPart policy(Section section, String kind) {
        return switch (kind) {
            case "discard" -> {
                section.missing("percentMax");
                Integer percent = section.integer("percentMax", 1, 99);
                Integer keptOneIn = section.integer("keptOneIn", 2, KEPT_ONE_IN_MAX);
                yield new PolicyPart.Discard(
                        percent == null ? 1 : percent, keptOneIn == null ? KEPT_ONE_IN : keptOneIn);
            }
            case "elastic" -> {
                section.missing("workersMax");
                Integer least = section.integer("workersMin", 1, FeedDefinition.WORKERS_MAX);
                Integer most = section.integer("workersMax", 2, FeedDefinition.WORKERS_MAX);
                int workersMin = least == null ? 1 : least;
                int workersMax = most == null ? FeedDefinition.WORKERS_MAX : most;
                if (workersMin >= workersMax) {
                    section.problem(
                            "workersMin",
                            "must be less than workersMax, which is %d; for so many at any time take policy basic and the key workers"
                                    .formatted(workersMax));
                }
                yield new PolicyPart.Elastic(workersMin, workersMax);
            }
            case "spill" -> {
                Long bytes = section.bytes("bytesMax");
                if (bytes != null && bytes < SpillPlace.BYTES_MIN) {
                    section.problem(
                            "bytesMax",
                            "must be at least %s, not %s"
                                    .formatted(
                                            ByteSize.format(SpillPlace.BYTES_MIN),
                                            ByteSize.format(bytes)));
                }
                yield new PolicyPart.Spill(bytes == null ? SPILL_BYTES_MAX : bytes);
            }
            case "throttle" -> {
                section.missing("recordsPerSecond");
                Integer rate = section.integer("recordsPerSecond", 1, RATE_MAX);
                yield new PolicyPart.Throttle(rate == null ? 1 : rate);
            }
            default -> new PolicyPart.Basic();
        };
    }
}
