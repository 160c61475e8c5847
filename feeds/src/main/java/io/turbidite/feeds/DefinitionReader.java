package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.DefinitionException.Problem;
import io.turbidite.feeds.FeedDefinition.DatasetPart;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.FeedDefinition.IndexPart;
import io.turbidite.feeds.FeedDefinition.Mode;
import io.turbidite.feeds.FeedDefinition.Origin;
import io.turbidite.feeds.FeedDefinition.SourcePart;
import io.turbidite.feeds.Section.Findings;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.Transform;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.schema.Retention;

import org.jspecify.annotations.Nullable;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Turns a definition's tree into a {@link FeedDefinition}, section by section, and collects all
 * problems on the way. <em>Confined to one thread, used once.</em>
 *
 * <p>Each closed set of words is here twice: the words that this release has, and the words that
 * the format names. A word of only the second kind gets a message of its own.
 */
final class DefinitionReader {
    private static final List<String> MAINTENANCES =
            Arrays.stream(Maintenance.values()).map(Maintenance::label).toList();
    private static final List<String> REPAIRS =
            Arrays.stream(MergeRepair.values()).map(MergeRepair::label).toList();
    private static final List<String> HANDOVERS =
            Arrays.stream(BitmapHandover.values()).map(BitmapHandover::label).toList();
    private static final List<String> INDEX_KINDS = List.of("btree");
    private static final List<String> INDEX_KINDS_NAMED = List.of("rtree", "inverted", "pm");
    private static final List<String> COMPRESSIONS =
            Arrays.stream(Compression.values()).map(Compression::label).toList();
    private static final List<String> SOURCES = List.of("file");
    private static final List<String> SOURCES_NAMED = List.of("tcp", "http", "kafka", "tweets");
    private static final List<String> PARSERS = List.of("csv", "json");
    private static final List<String> POLICIES = List.of("basic");
    private static final List<String> POLICIES_NAMED =
            List.of("spill", "discard", "throttle", "elastic");
    private static final List<String> MODES = List.of("upsert", "insert", "delete");
    private static final List<String> DURABILITIES =
            List.of("sync", "interval", "process", "buffered");
    private static final List<String> MERGE_SCHEDULERS =
            Arrays.stream(MergeScheduler.values()).map(MergeScheduler::label).toList();

    /** Bounds what one file can make the store allocate at creation. */
    private static final int PARTITIONS_MAX = 256;

    private final Findings findings;
    private final Path directory;

    DefinitionReader(String file, Path directory) {
        this.findings = new Findings(file, new ArrayList<>(), new HashMap<>());
        this.directory = directory;
    }

    FeedDefinition read(YamlNode tree) {
        return read(tree, this::definition);
    }

    /** Where the parts of the definition are written. */
    Origin origin() {
        return new Origin(findings.file(), findings.lineByKey());
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
        String feed = name(root, "feed", "feed");
        DatasetPart dataset = dataset(root);
        SourcePart source = source(root);
        FormatPart format = format(root);
        List<Transform> transforms = transforms(root, dataset);
        policy(root);
        String mode = root.choice("mode", MODES, List.of());
        StoreOptions storeOptions = store(root);
        root.end();
        if (feed == null || dataset == null || source == null || format == null) {
            return null;
        }
        FeedDefinition definition = new FeedDefinition(
                feed,
                dataset,
                source,
                format,
                transforms,
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

    @Nullable
    String name(Section section, String key, String what) {
        String name = section.requiredText(key);
        return name == null
                ? null
                : section.convert(key, name, text -> Limits.checkName(what, text));
    }

    private @Nullable DatasetPart dataset(Section root) {
        root.missing("dataset");
        Section section = root.child("dataset");
        if (section == null) {
            return null;
        }
        String name = name(section, "name", "dataset");
        if (name != null && name.startsWith("_")) {
            section.problem(
                    "name",
                    "'%s' is wrong: names that begin with '_' are the store's own".formatted(name));
        }
        RecordType type = type(section);
        List<String> primaryKey = fields(section, "primaryKey", type);
        section.missing("primaryKey");
        checkRequired(section, type, primaryKey);
        List<String> filters = fields(section, "filter", type);
        Integer partitions = section.integer("partitions", 1, PARTITIONS_MAX);
        String strategy = section.choice("maintenance", MAINTENANCES, List.of());
        Maintenance maintenance =
                strategy == null ? Maintenance.EAGER : Maintenance.ofLabel(strategy);
        MergePolicySpec mergePolicy = mergePolicy(section);
        section.convert("maintenance", maintenance, chosen -> {
            if (mergePolicy != null) {
                chosen.checkOfDataset(String.valueOf(name), mergePolicy);
            }
            return chosen;
        });
        PageOptions pages = pages(section, PageOptions.standard());
        Retention retention = retention(section, type, filters, mergePolicy);
        String repairLabel = section.choice("repair", REPAIRS, List.of());
        MergeRepair repair =
                repairLabel == null ? MergeRepair.MERGE : MergeRepair.ofLabel(repairLabel);
        BitmapHandover bitmapHandover = bitmapHandover(section, maintenance);
        List<IndexPart> indexes =
                indexes(section, String.valueOf(name), type, maintenance, mergePolicy, pages);
        section.convert("repair", repair, chosen -> {
            maintenance.checkRepair(chosen, String.valueOf(name), "it");
            indexes.forEach(index -> index.maintenance()
                    .checkRepair(chosen, String.valueOf(name), "index " + index.name()));
            return chosen;
        });
        section.end();
        if (name == null || type == null || primaryKey.isEmpty() || mergePolicy == null) {
            return null;
        }
        int partitionCount = partitions == null ? 1 : partitions;
        return new DatasetPart(
                name,
                type,
                primaryKey,
                filters,
                partitionCount,
                maintenance,
                mergePolicy,
                pages,
                retention,
                repair,
                bitmapHandover,
                indexes);
    }

    private static BitmapHandover bitmapHandover(Section section, Maintenance maintenance) {
        String label = section.choice("bitmapHandover", HANDOVERS, List.of());
        BitmapHandover method =
                label == null ? BitmapHandover.SIDE_FILE : BitmapHandover.ofLabel(label);
        section.convert("bitmapHandover", method, chosen -> {
            chosen.checkWith(maintenance, "this one");
            return chosen;
        });
        return method;
    }

    private @Nullable RecordType type(Section dataset) {
        dataset.missing("type");
        Section section = dataset.child("type");
        if (section == null) {
            return null;
        }
        List<Field> fields = new ArrayList<>();
        for (String name : section.keys()) {
            String label = section.text(name);
            Field field = label == null
                    ? null
                    : section.convert(name, label, text -> Field.parse(name, text));
            if (field != null) {
                fields.add(field);
            }
        }
        if (section.keys().isEmpty()) {
            dataset.problem("type", "declares no field");
        }
        return fields.size() == section.keys().size()
                ? dataset.convert("type", fields, RecordType::of)
                : null;
    }

    /** One or more declared fields. Not checked against a type that has problems of its own. */
    private List<String> fields(Section section, String key, @Nullable RecordType type) {
        List<String> names = section.texts(key);
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            if (type != null) {
                section.convert(key, name, text -> type.require(text, key));
            }
            if (!seen.add(name)) {
                section.problem(key, "names field '%s' twice".formatted(name));
            }
        }
        return names;
    }

    private void checkRequired(
            Section section, @Nullable RecordType type, List<String> primaryKey) {
        for (String name : primaryKey) {
            int index = type == null ? -1 : type.indexOf(name);
            if (type != null && index >= 0 && type.field(index).optional()) {
                section.problem(
                        "primaryKey",
                        "names field '%s', which is optional (%s); a key's fields are required"
                                .formatted(name, type.field(index).typeLabel()));
            }
        }
    }

    private List<IndexPart> indexes(
            Section dataset,
            String datasetName,
            @Nullable RecordType type,
            Maintenance ofDataset,
            @Nullable MergePolicySpec mergePolicy,
            PageOptions datasetPages) {
        List<IndexPart> indexes = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Section section : dataset.children("indexes")) {
            String name = name(section, "name", "index");
            if (name != null && !names.add(name)) {
                section.problem("name", "'%s' names an earlier index too".formatted(name));
            }
            if ("primary".equals(name)) {
                section.problem("name", "is '%s', which is the primary's".formatted(name));
            }
            section.missing("kind");
            var _ = section.choice("kind", INDEX_KINDS, INDEX_KINDS_NAMED);
            section.missing("on");
            List<String> on = fields(section, "on", type);
            String label = section.text("maintenance");
            Maintenance strategy = label == null
                    ? null
                    : section.convert("maintenance", label, Maintenance::ofIndexLabel);
            Maintenance maintenance = strategy == null ? ofDataset.ofItsIndexes() : strategy;
            PageOptions pages = pages(section, datasetPages);
            boolean unique = section.truth("unique", false);
            section.convert("maintenance", maintenance, chosen -> {
                chosen.checkOfIndex(datasetName, String.valueOf(name), unique);
                if (mergePolicy != null) {
                    chosen.checkWithin(ofDataset, mergePolicy, datasetName, String.valueOf(name));
                }
                return chosen;
            });
            var _ = section.ignoreRestOf("kind", INDEX_KINDS_NAMED);
            section.end();
            if (name != null && !on.isEmpty()) {
                indexes.add(new IndexPart(name, on, unique, maintenance, pages));
            }
        }
        return indexes;
    }

    /** How components keep their pages; what the section does not say is as in {@code defaults}. */
    private static PageOptions pages(Section section, PageOptions defaults) {
        PageOptions pages = defaults;
        String compression = section.choice("compression", COMPRESSIONS, List.of());
        if (compression != null) {
            PageOptions before = pages;
            PageOptions after = section.convert(
                    "compression",
                    compression,
                    label -> before.withCompression(Compression.ofLabel(label)));
            pages = after == null ? before : after;
        }
        Long bytes = section.bytes("pageBytes");
        if (bytes != null) {
            PageOptions before = pages;
            PageOptions after = section.convert(
                    "pageBytes",
                    bytes,
                    b -> before.withPageBytes((int) Math.min(b, Integer.MAX_VALUE)));
            pages = after == null ? before : after;
        }
        return pages;
    }

    @Nullable
    SourcePart source(Section root) {
        root.missing("source");
        Section section = root.child("source");
        if (section == null) {
            return null;
        }
        section.missing("kind");
        var _ = section.choice("kind", SOURCES, SOURCES_NAMED);
        if (section.ignoreRestOf("kind", SOURCES_NAMED)) {
            return null;
        }
        String path = section.requiredText("path");
        section.end();
        Path resolved = path == null ? null : section.convert("path", path, this::resolve);
        return path == null || resolved == null ? null : new SourcePart(path, resolved);
    }

    private Path resolve(String path) {
        try {
            return directory.resolve(path);
        } catch (InvalidPathException e) {
            throw new InvalidRequestException("no path: " + e.getReason(), e);
        }
    }

    private @Nullable FormatPart format(Section root) {
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

    private List<Transform> transforms(Section root, @Nullable DatasetPart dataset) {
        Section section = root.child("transform");
        List<Transform> transforms = new ArrayList<>();
        if (section == null) {
            return transforms;
        }
        for (String field : section.keys()) {
            String text = section.text(field);
            if (text == null) {
                continue;
            }
            Transform transform = new Transform(field, text);
            transforms.add(transform);
            if (dataset != null) {
                section.convert(field, transform, t -> {
                    t.check(dataset.type().field(dataset.type().require(field, "transform")));
                    return t;
                });
            }
        }
        return transforms;
    }

    private void policy(Section root) {
        Section section = root.child("policy");
        if (section == null) {
            return;
        }
        section.missing("kind");
        var _ = section.choice("kind", POLICIES, POLICIES_NAMED);
        var _ = section.ignoreRestOf("kind", POLICIES_NAMED);
        section.end();
    }

    private StoreOptions store(Section root) {
        StoreOptions options = StoreOptions.defaults();
        Section section = root.child("store");
        if (section == null) {
            return options;
        }
        String durability = section.choice("durability", DURABILITIES, List.of());
        if (durability != null) {
            options =
                    options.withDurability(Durability.valueOf(durability.toUpperCase(Locale.ROOT)));
        }
        options = with(section, "writeMemoryBytes", options, StoreOptions::withWriteMemoryBytes);
        options = with(section, "cacheBytes", options, StoreOptions::withCacheBytes);
        options = with(
                section,
                "logBytesMax",
                options,
                (before, bytes) -> before.withLog(bytes, before.log()));
        String scheduler = section.choice("mergeScheduler", MERGE_SCHEDULERS, List.of());
        if (scheduler != null) {
            options = options.withBackground(
                    options.background().withMergeScheduler(MergeScheduler.of(scheduler)));
        }
        options = with(
                section,
                "ioBytesPerSecond",
                options,
                (before, bytes) ->
                        before.withBackground(before.background().withIoBytesPerSecond(bytes)));
        options = with(
                section,
                "syncBytes",
                options,
                (before, bytes) -> before.withBackground(before.background().withSyncBytes(bytes)));
        Integer workers = section.integer("mergeWorkers", 1, BackgroundOptions.MERGE_WORKERS_MAX);
        if (workers != null) {
            options = options.withBackground(options.background().withMergeWorkers(workers));
        }
        Integer backlog = section.integer("backlogComponentsMax", 4, Integer.MAX_VALUE);
        if (backlog != null) {
            options =
                    options.withBackground(options.background().withBacklogComponentsMax(backlog));
        }
        options = options.withDirectIo(section.truth("directIo", options.directIo()));
        section.end();
        return options;
    }

    private static StoreOptions with(
            Section section,
            String key,
            StoreOptions before,
            BiFunction<StoreOptions, Long, StoreOptions> change) {
        Long bytes = section.bytes(key);
        StoreOptions after =
                bytes == null ? null : section.convert(key, bytes, b -> change.apply(before, b));
        return after == null ? before : after;
    }

    private @Nullable Retention retention(
            Section dataset,
            @Nullable RecordType type,
            List<String> filters,
            @Nullable MergePolicySpec mergePolicy) {
        Retention retention = age(dataset);
        if (retention != null
                && type != null
                && mergePolicy != null
                && filters.stream().allMatch(filter -> type.indexOf(filter) >= 0)) {
            List<KeySpec> keys = filters.stream()
                    .map(f -> KeySpec.of(type, List.of(f), "filter"))
                    .toList();
            dataset.convert("retain", retention, kept -> {
                DatasetSchema.checkRetention(keys, mergePolicy);
                return kept;
            });
        }
        return retention;
    }

    /** How long something is kept. */
    static @Nullable Retention age(Section section) {
        if (section.value("retain") instanceof YamlNode.Scalar number
                && number.kind() == YamlNode.Scalar.Kind.NUMBER) {
            section.problem(
                    "retain",
                    "must be a number with d, h, m or s such as 30d, not %s"
                            .formatted(number.described()));
            return null;
        }
        String text = section.text("retain");
        return text == null ? null : section.convert("retain", text, Retention::parse);
    }

    /** Null if it is wrong: then nothing is checked against it. */
    private @Nullable MergePolicySpec mergePolicy(Section dataset) {
        if (!dataset.keys().contains("mergePolicy")) {
            return MergePolicySpec.standard();
        }
        Section section = dataset.child("mergePolicy");
        if (section == null) {
            return null;
        }
        String kind = section.requiredText("kind");
        Map<String, String> parameters = section.scalars();
        if (kind != null) {
            try {
                return MergePolicySpec.parse(kind, parameters);
            } catch (InvalidRequestException e) {
                // "parameter: what is wrong with it"
                String message = String.valueOf(e.getMessage());
                int colon = message.indexOf(':');
                section.problem(
                        message.substring(0, colon), "is wrong: " + message.substring(colon + 2));
            }
        }
        return null;
    }
}
