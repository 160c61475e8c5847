package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.DefinitionException.Problem;
import io.turbidite.feeds.FeedDefinition.DatasetPart;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.FeedDefinition.Mode;
import io.turbidite.feeds.FeedDefinition.Origin;
import io.turbidite.feeds.FeedDefinition.PolicyPart;
import io.turbidite.feeds.FeedDefinition.ShapePart;
import io.turbidite.feeds.FeedDefinition.SourcePart;
import io.turbidite.feeds.Section.Findings;
import io.turbidite.feeds.parse.ShapingParser;
import io.turbidite.feeds.parse.Transform;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Turns a definition's tree into a {@link FeedDefinition}, section by section, and collects all
 * problems on the way. <em>Confined to one thread, used once.</em>
 */
final class DefinitionReader {
    private static final List<String> MODES = List.of("upsert", "insert", "delete");

    private final Findings findings;
    private final SourceReader sources;

    DefinitionReader(String file, Path directory) {
        this(file, directory, path -> {});
    }

    DefinitionReader(String file, Path directory, Consumer<String> paths) {
        this.findings = new Findings(file, new ArrayList<>(), new HashMap<>(), paths);
        this.sources = new SourceReader(directory);
    }

    FeedDefinition read(YamlNode tree) {
        return read(tree, this::definition);
    }

    /** Where the parts of the definition are written. */
    Origin origin() {
        return new Origin(findings.file(), findings.lineByKey());
    }

    /** Reads the sections that definitions of a dataset and of a log have in common. */
    SourceReader sources() {
        return sources;
    }

    /** Reads with {@code sections}, which may give null where it found problems. */
    <T> T read(YamlNode tree, Function<Section, @Nullable T> sections) {
        Section root = Section.of(findings, "", 1, tree);
        T definition = root == null ? null : sections.apply(root);
        if (definition == null || !findings.problems().isEmpty()) {
            throw new DefinitionException(findings.problems().stream()
                    .sorted(Comparator.comparingInt(Problem::line))
                    .toList());
        }
        return definition;
    }

    /** Null only if there are problems. */
    private @Nullable FeedDefinition definition(Section root) {
        if (root.has(LogFeedDefinition.KEY) && !root.has("dataset")) {
            root.problem(
                    LogFeedDefinition.KEY,
                    "is a hash log: a feed into one is run by ./turbidite run alone, not by a server");
            return null;
        }
        String feed = name(root, "feed", "feed");
        DatasetPart dataset = DatasetReader.read(root);
        SourcePart source = sources.source(root);
        FormatPart format = sources.format(root);
        List<Transform> transforms = sources.transforms(root, dataset);
        String mode = root.choice("mode", MODES, List.of());
        ShapePart shape = shape(root, dataset, format, "delete".equals(mode));
        PolicyPart policy = sources.policy(root, "delete".equals(mode));
        Integer workers = root.integer("workers", 1, FeedDefinition.WORKERS_MAX);
        if (workers != null && workers > 1 && policy instanceof PolicyPart.Spill) {
            root.problem(
                    "workers", "more than 1 do not go with policy spill: its files are one queue");
        }
        if (workers != null && policy instanceof PolicyPart.Elastic) {
            root.problem(
                    "workers",
                    "does not go with policy elastic, whose workersMin and workersMax say how many there are");
        }
        StoreOptions storeOptions = StoreOptionsReader.read(root);
        root.end();
        if (feed == null || dataset == null || source == null || format == null) {
            return null;
        }
        SourceReader.checkAvro(root, source, format);
        FeedDefinition definition = new FeedDefinition(
                feed,
                dataset,
                source,
                format,
                transforms,
                shape,
                policy,
                workers == null ? 1 : workers,
                mode == null ? Mode.UPSERT : Mode.valueOf(mode.toUpperCase(Locale.ROOT)),
                storeOptions,
                origin());
        if (findings.problems().isEmpty()) {
            // whatever the store would refuse once it is made, asked by the store's own code
            root.convert("dataset", definition, whole -> whole.toDatasetSpec().check());
        }
        if (findings.problems().isEmpty()) {
            checkCache(definition);
        }
        return definition;
    }

    private static ShapePart shape(
            Section root,
            @Nullable DatasetPart dataset,
            @Nullable FormatPart format,
            boolean deletes) {
        String explode = root.text("explode");
        String where = root.text("where");
        if (explode != null && dataset != null) {
            root.convert("explode", explode, name -> {
                checkExplode(name, dataset.type(), format);
                return name;
            });
        }
        if (where != null && dataset != null) {
            root.convert("where", where, text -> {
                ShapingParser.check(
                        deletes ? dataset.type().only(dataset.primaryKey()) : dataset.type(), text);
                return text;
            });
        }
        return new ShapePart(explode, where);
    }

    private static void checkExplode(String name, RecordType type, @Nullable FormatPart format) {
        if (format instanceof FormatPart.Csv) {
            throw new InvalidRequestException("a record of CSV has no arrays: it goes with JSON");
        }
        int field = type.indexOf(name);
        if (field < 0 || type.memberOf(RecordType.TOP, name) < 0) {
            throw new InvalidRequestException(
                    "'%s' is no declared field at the top of a record".formatted(name));
        }
        if (!type.field(field).kind().isScalar()) {
            throw new InvalidRequestException("field '%s' is %s: declare it as what one element is"
                    .formatted(name, type.field(field).typeLabel()));
        }
    }

    /** Puts the problem where the author said most about it. */
    private void checkCache(FeedDefinition definition) {
        try {
            definition.toDatasetSpec().checkWith(definition.storeOptions());
        } catch (InvalidRequestException e) {
            String key = Stream.of("store.cacheBytes", "dataset.mergePolicy", "dataset")
                    .filter(findings.lineByKey()::containsKey)
                    .findFirst()
                    .orElseThrow();
            int line = Objects.requireNonNull(findings.lineByKey().get(key));
            findings.add(line, key, "is wrong: " + e.getMessage());
        }
    }

    /** A required name, checked. */
    static @Nullable String name(Section section, String key, String what) {
        String name = section.requiredText(key);
        return name == null
                ? null
                : section.convert(key, name, text -> Limits.checkName(what, text));
    }
}
