package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.index.FieldKeys;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.FeedDefinition.DatasetPart;
import io.turbidite.feeds.FeedDefinition.IndexPart;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.DatasetOptions.Choice;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.Retention;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Turns the section {@code dataset} of a definition into a {@link DatasetPart}. Static, without
 * state.
 *
 * <p>Sets of words are as in {@link SourceReader}.
 */
final class DatasetReader {
    private static final List<String> INDEX_KINDS = List.of("btree", "rtree", "inverted", "pm");
    private static final List<String> COMPRESSIONS =
            Arrays.stream(Compression.values()).map(Compression::label).toList();

    /** Bounds what one file can make the store allocate at creation. */
    private static final int PARTITIONS_MAX = 256;

    private DatasetReader() {}

    /** Null only if there are problems. */
    static @Nullable DatasetPart read(Section root) {
        root.missing("dataset");
        Section section = root.child("dataset");
        if (section == null) {
            return null;
        }
        String name = DefinitionReader.name(section, "name", "dataset");
        if (name != null && name.startsWith("_")) {
            section.problem(
                    "name",
                    "'%s' is wrong: names that begin with '_' are the store's own".formatted(name));
        }
        RecordType type = type(section);
        List<String> primaryKey = fields(section, "primaryKey", type, true);
        section.missing("primaryKey");
        checkRequired(section, type, primaryKey);
        List<String> filters = fields(section, "filter", type, true);
        Integer partitions = section.integer("partitions", 1, PARTITIONS_MAX);
        MergePolicySpec mergePolicy = mergePolicy(section);
        DatasetOptions options = options(section, type, filters, mergePolicy);
        String datasetName = String.valueOf(name);
        boolean repairFits = true;
        for (Choice choice : Choice.values()) {
            // of a merge policy that has problems of its own nothing more is said
            if (mergePolicy != null || choice != Choice.MAINTENANCE) {
                DatasetOptions checked = section.convert(choice.key(), options, chosen -> {
                    choice.check(chosen, datasetName);
                    return chosen;
                });
                repairFits &= checked != null || choice != Choice.REPAIR;
            }
        }
        List<IndexPart> indexes =
                indexes(section, datasetName, type, primaryKey, options, mergePolicy);
        if (repairFits) {
            section.convert(Choice.REPAIR.key(), options.repair(), chosen -> {
                indexes.forEach(index -> index.maintenance()
                        .checkRepair(chosen, datasetName, "index " + index.name()));
                return chosen;
            });
        }
        section.end();
        if (name == null || type == null || primaryKey.isEmpty() || mergePolicy == null) {
            return null;
        }
        int partitionCount = partitions == null ? 1 : partitions;
        return new DatasetPart(name, type, primaryKey, filters, partitionCount, options, indexes);
    }

    /** What has problems stays as it is by default. */
    private static DatasetOptions options(
            Section section,
            @Nullable RecordType type,
            List<String> filters,
            @Nullable MergePolicySpec mergePolicy) {
        DatasetOptions.Builder options = DatasetOptions.builder();
        for (Choice choice : Choice.values()) {
            String word = section.choice(choice.key(), choice.words(), List.of());
            if (word != null) {
                choice.choose(options, word);
            }
        }
        if (mergePolicy != null) {
            options.mergePolicy(mergePolicy);
        }
        PageOptions pages = pages(section, PageOptions.standard());
        return options.components(ComponentOptions.primary().withPages(pages))
                .retention(retention(section, type, filters, mergePolicy))
                .build();
    }

    private static @Nullable RecordType type(Section dataset) {
        dataset.missing("type");
        Section section = dataset.child("type");
        if (section == null) {
            return null;
        }
        List<Field> fields = new ArrayList<>();
        for (String name : section.keys()) {
            Field field = field(section, name, 1);
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

    /** A field's type as text, an array as a list of one type, a nested record as a mapping. */
    private static @Nullable Field field(Section section, String name, int depth) {
        YamlNode node = section.value(name);
        if (node instanceof YamlNode.Mapping && depth < Limits.NESTING_DEPTH_MAX) {
            Section nested = section.child(name);
            List<Field> members = new ArrayList<>();
            if (nested == null) {
                return null;
            }
            for (String key : nested.keys()) {
                Field member = field(nested, key, depth + 1);
                if (member != null) {
                    members.add(member);
                }
            }
            return members.size() == nested.keys().size()
                    ? section.convert(name, members, all -> Field.nested(name, all, false))
                    : null;
        }
        if (node instanceof YamlNode.Sequence(var _, List<YamlNode> items)) {
            if (items.size() == 1 && items.getFirst() instanceof YamlNode.Scalar element) {
                return section.convert(
                        name, element.text(), text -> Field.parse(name, '[' + text + ']'));
            }
            section.problem(
                    name, "must name one simple type for all elements of an array, like [string]");
            return null;
        }
        String label = section.text(name);
        return label == null ? null : section.convert(name, label, text -> Field.parse(name, text));
    }

    /**
     * One or more declared fields. Not checked against a type that has problems of its own.
     *
     * @param single whether none may be the elements of an array
     */
    private static List<String> fields(
            Section section, String key, @Nullable RecordType type, boolean single) {
        List<String> names = section.texts(key);
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            if (type != null) {
                section.convert(
                        key,
                        name,
                        text -> single
                                ? KeySpec.of(type, List.of(text), key)
                                : KeySpec.ofEach(type, List.of(text), key, KeyForm.CURRENT));
            }
            if (!seen.add(name)) {
                section.problem(key, "names field '%s' twice".formatted(name));
            }
        }
        return names;
    }

    private static void checkRequired(
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

    private static List<IndexPart> indexes(
            Section dataset,
            String datasetName,
            @Nullable RecordType type,
            List<String> primaryKey,
            DatasetOptions options,
            @Nullable MergePolicySpec mergePolicy) {
        Maintenance ofDataset = options.maintenance();
        PageOptions datasetPages = options.components().pages();
        List<IndexPart> indexes = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Section section : dataset.children("indexes")) {
            String name = DefinitionReader.name(section, "name", "index");
            if (name != null && !names.add(name)) {
                section.problem("name", "'%s' names an earlier index too".formatted(name));
            }
            if ("primary".equals(name)) {
                section.problem("name", "is '%s', which is the primary's".formatted(name));
            }
            section.missing("kind");
            String label = section.choice("kind", INDEX_KINDS, List.of());
            IndexDescription.Kind kind =
                    label == null ? IndexDescription.Kind.BTREE : IndexDescription.Kind.of(label);
            section.missing("on");
            List<String> on = fields(section, "on", type, false);
            Map<String, String> parameters = kind.isGiven()
                    ? regionParameters(section, type, primaryKey, String.valueOf(name))
                    : parameters(section, kind, String.valueOf(name));
            checkKind(section, kind, type, on, String.valueOf(name));
            String maintained = section.text("maintenance");
            Maintenance strategy = maintained == null
                    ? null
                    : section.convert("maintenance", maintained, Maintenance::ofIndexLabel);
            Maintenance maintenance = strategy != null
                    ? strategy
                    : kind.isGiven() ? Maintenance.VALIDATION : ofDataset.ofItsIndexes();
            if (kind.isGiven() && maintenance != Maintenance.VALIDATION) {
                section.problem(
                        "maintenance",
                        "is %s, but an index of kind %s is maintained by validation"
                                .formatted(maintenance.label(), kind.label()));
            }
            PageOptions pages = kind.isGiven() ? datasetPages : pages(section, datasetPages);
            boolean unique = section.truth("unique", false);
            if (unique && kind != IndexDescription.Kind.BTREE) {
                section.problem("unique", "goes with a btree alone, not with kind " + kind.label());
            } else if (unique && on.stream().anyMatch(field -> field.endsWith(RecordType.EACH))) {
                section.problem(
                        "unique", "does not go with the elements of an array: a record has many");
            }
            section.convert("maintenance", maintenance, chosen -> {
                chosen.checkOfIndex(datasetName, String.valueOf(name), unique);
                if (mergePolicy != null) {
                    chosen.checkWithin(ofDataset, mergePolicy, datasetName, String.valueOf(name));
                }
                return chosen;
            });
            section.end();
            if (name != null && !on.isEmpty()) {
                indexes.add(new IndexPart(name, kind, on, unique, maintenance, pages, parameters));
            }
        }
        return indexes;
    }

    /**
     * What an index of kind pm takes, with what is left open. The parameters are looked at one
     * after the other, so that each problem has its key; the mode last, since the path decides
     * whether it is there.
     */
    private static Map<String, String> regionParameters(
            Section section, @Nullable RecordType type, List<String> primaryKey, String name) {
        Map<String, String> given = new LinkedHashMap<>();
        for (String parameter : PmKind.PARAMETERS.reversed()) {
            String text = section.scalar(parameter);
            if (text != null) {
                if (parameter.equals(PmKind.PATH)) {
                    section.requireAllowed(text);
                }
                given.put(parameter, text);
            }
        }
        boolean isWhole = type != null
                && !primaryKey.isEmpty()
                && primaryKey.stream().allMatch(field -> type.indexOf(field) >= 0);
        if (type == null || !isWhole) {
            return given;
        }
        int keyBytesMax = FieldKeys.bytesMax(KeySpec.of(type, primaryKey, "primaryKey"));
        PmKind pm = new PmKind();
        String use = "index " + name;
        Map<String, String> taken = new HashMap<>();
        Map<String, String> defined = pm.define(use, taken, keyBytesMax);
        for (Map.Entry<String, String> parameter : given.entrySet()) {
            taken.put(parameter.getKey(), parameter.getValue());
            Map<String, String> more = section.convert(
                    parameter.getKey(), taken, chosen -> pm.define(use, chosen, keyBytesMax));
            if (more == null) {
                taken.remove(parameter.getKey());
            } else {
                defined = more;
            }
        }
        return defined;
    }

    /** What the kind takes beside fields: an inverted index a tokenizer. */
    private static Map<String, String> parameters(
            Section section, IndexDescription.Kind kind, String name) {
        String tokenizer =
                kind == IndexDescription.Kind.INVERTED ? section.text(TokenKeys.TOKENIZER) : null;
        if (tokenizer == null) {
            return Map.of();
        }
        Tokenizer found = section.convert(
                TokenKeys.TOKENIZER, tokenizer, label -> Tokenizer.ofLabel(label, "index " + name));
        return found == null ? Map.of() : Map.of(TokenKeys.TOKENIZER, found.label());
    }

    /**
     * A btree has one array at most; an rtree is on one field, a point or a rectangle; an inverted
     * index on a string.
     */
    private static void checkKind(
            Section section,
            IndexDescription.Kind kind,
            @Nullable RecordType type,
            List<String> on,
            String name) {
        boolean isFlat = type == null || type.arrayCount() == 0;
        if (type == null || (kind == IndexDescription.Kind.BTREE && isFlat) || on.isEmpty()) {
            return;
        }
        if (on.stream().allMatch(field -> type.indexOf(field) >= 0)) {
            section.convert(
                    "on",
                    on,
                    fields -> IndexDescription.entryKeys(
                            kind, type, fields, "index " + name, KeyForm.CURRENT, Map.of()));
        }
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

    private static @Nullable Retention retention(
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
    private static @Nullable MergePolicySpec mergePolicy(Section dataset) {
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
