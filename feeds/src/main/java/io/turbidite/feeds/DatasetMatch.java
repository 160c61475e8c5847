package io.turbidite.feeds;

import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.feeds.DefinitionException.Problem;
import io.turbidite.feeds.FeedDefinition.DatasetPart;
import io.turbidite.feeds.FeedDefinition.IndexPart;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.DatasetOptions.Choice;
import io.turbidite.lsm.schema.Retention;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds where a definition contradicts the dataset in the store, each with a way out. <em>Confined
 * to one thread, used once.</em>
 *
 * <p>These are harmless and no contradictions: an index that the definition does not name, another
 * order of the declared fields, and a missing key, which then means what the dataset has. But a
 * missing {@code retain} is one: such a definition wants to keep all records.
 */
final class DatasetMatch {
    private static final String DATASET = "dataset.";

    private final FeedDefinition definition;
    private final DatasetPart wanted;
    private final Dataset there;
    private final DatasetDescription described;
    private final IndexDescription primary;
    private final String directory;
    private final List<Problem> problems = new ArrayList<>();

    private DatasetMatch(FeedDefinition definition, Dataset there, Store store) {
        this.definition = definition;
        this.wanted = definition.dataset();
        this.there = there;
        StoreDescription whole = store.describe();
        this.directory = whole.directory();
        this.described = whole.datasets().stream()
                .filter(dataset -> dataset.name().equals(there.name()))
                .findFirst()
                .orElseThrow();
        this.primary = described.partitions().getFirst().indexes().getFirst();
    }

    /** Empty if the definition can feed the dataset {@code there}. */
    static List<Problem> problems(FeedDefinition definition, Dataset there, Store store) {
        DatasetMatch match = new DatasetMatch(definition, there, store);
        match.compareType();
        match.compareKeys();
        match.compareIndexes();
        return match.problems;
    }

    private void compareType() {
        RecordType type = there.type();
        for (Field field : wanted.type().fields()) {
            int index = type.indexOf(field.name());
            String key = "type." + field.name();
            if (index < 0) {
                problem(key, "'%s'".formatted(field.typeLabel()), "no such field", "take it out");
            } else {
                fixed(key, label(field), label(type.field(index)));
            }
        }
        for (Field field : type.fields()) {
            if (wanted.type().indexOf(field.name()) < 0) {
                problem(
                        "type",
                        "without '%s'".formatted(field.name()),
                        "that field",
                        "write '%s: \"%s\"'".formatted(field.name(), field.typeLabel()));
            }
        }
    }

    /** Of a nested record only that it is one: what lies in it is compared by itself. */
    private static String label(Field field) {
        return field.kind() == TypeKind.RECORD
                ? "{…}" + (field.optional() ? "?" : "")
                : field.typeLabel();
    }

    private void compareKeys() {
        fixed("primaryKey", list(wanted.primaryKey()), list(there.primaryKey()));
        ifWritten("filter", list(wanted.filters()), list(there.filterFields()));
        ifWritten("partitions", wanted.partitions(), described.partitions().size());
        DatasetOptions options = wanted.options();
        DatasetOptions kept = described.options();
        for (Choice choice : Choice.values()) {
            ifWritten(choice.key(), choice.label(options), choice.label(kept));
        }
        compareMergePolicy(options.mergePolicy(), kept.mergePolicy());
        PageOptions pages = primary.pages();
        ifWritten("pageBytes", options.components().pageBytes(), pages.pageBytes());
        ifWritten(
                "compression",
                options.components().compression().label(),
                pages.compression().label());
        compareRetention(options.retention(), kept.retention());
    }

    /** A parameter that is left out is as in the store: the default may have been another one. */
    private void compareMergePolicy(MergePolicySpec asked, MergePolicySpec kept) {
        Map<String, String> parameters = asked.parameters();
        if (asked.kind().equals(kept.kind())) {
            parameters.keySet().removeIf(name -> !isWritten(DATASET + "mergePolicy." + name));
            kept.parameters().forEach(parameters::putIfAbsent);
        }
        ifWritten(
                "mergePolicy",
                MergePolicySpec.parse(asked.kind(), parameters).toString(),
                kept.toString());
    }

    private void compareRetention(@Nullable Retention retention, @Nullable Retention kept) {
        if (kept == null) {
            if (retention != null) {
                problem("retain", retention.toString(), "none", "take the key out");
            }
        } else if (retention == null) {
            problem("retain", "missing", kept.toString(), "write 'retain: %s'".formatted(kept));
        } else {
            fixed("retain", retention.toString(), kept.toString());
        }
    }

    private void ifWritten(String key, Object value, Object inStore) {
        if (isWritten(DATASET + key)) {
            fixed(key, value, inStore);
        }
    }

    private boolean isWritten(String key) {
        return definition.origin().lineByKey().containsKey(key);
    }

    /** Compares a property that a dataset has for life. */
    private void fixed(String key, Object value, Object inStore) {
        if (!value.equals(inStore)) {
            problem(
                    key,
                    value.toString(),
                    inStore.toString(),
                    inStore.equals("none") ? "take the key out" : "write %s".formatted(inStore));
        }
    }

    private void problem(String key, String value, String inStore, String edit) {
        add(
                DATASET + key,
                "is %s, but dataset %s in store %s has %s: %s, or load into a new dataset (new names at dataset.name and feed)"
                        .formatted(value, wanted.name(), directory, inStore, edit));
    }

    private void compareIndexes() {
        Map<String, IndexDescription> inStore = new LinkedHashMap<>();
        described.partitions().getFirst().indexes().stream()
                .skip(1) // the primary
                .forEach(index -> inStore.put(index.name(), index));
        for (int i = 0; i < wanted.indexes().size(); i++) {
            String key = DATASET + "indexes[%d]".formatted(i);
            IndexPart part = wanted.indexes().get(i);
            IndexDescription index = inStore.get(part.name());
            if (index == null) {
                add(
                        key,
                        "is index %s, which dataset %s in store %s has not: %s"
                                .formatted(part.name(), wanted.name(), directory, create(part)));
            } else {
                compareIndex(key, part, index);
            }
        }
    }

    private void compareIndex(String key, IndexPart part, IndexDescription index) {
        int before = problems.size();
        indexKey(key + ".kind", part, part.kind().label(), index.kind());
        indexKey(key + ".on", part, list(part.on()), list(index.fields()));
        indexKey(key + ".unique", part, part.unique(), index.unique());
        if (isWritten(key + ".maintenance")) {
            String label = part.maintenance().label();
            indexKey(key + ".maintenance", part, label, index.maintenance());
        }
        PageOptions pages = index.pages();
        if (!part.kind().isGiven() && isWritten(key + ".pageBytes")) {
            indexKey(key + ".pageBytes", part, part.pages().pageBytes(), pages.pageBytes());
        }
        if (isWritten(key + ".compression")) {
            String label = part.pages().compression().label();
            indexKey(key + ".compression", part, label, pages.compression().label());
        }
        for (String parameter : PmKind.PARAMETERS) {
            if (part.kind().isGiven() && isWritten(key + "." + parameter)) {
                indexKey(
                        key + "." + parameter,
                        part,
                        part.parameters().getOrDefault(parameter, "none"),
                        index.parameters().getOrDefault(parameter, "none"));
            }
        }
        if (problems.size() == before && index.state().equals("disabled")) {
            add(
                    key,
                    "is index %s, which is disabled: %s"
                            .formatted(part.name(), command("enable", part.name())));
        }
    }

    private void indexKey(String key, IndexPart part, Object value, Object inStore) {
        if (!value.equals(inStore)) {
            add(
                    key,
                    "is %s, but index %s of dataset %s in store %s has %s: write %s, or %s and %s"
                            .formatted(
                                    value,
                                    part.name(),
                                    wanted.name(),
                                    directory,
                                    inStore,
                                    inStore,
                                    command("drop", part.name()),
                                    create(part)));
        }
    }

    private String create(IndexPart part) {
        StringBuilder command = new StringBuilder(command("create", part.name()))
                .append(" --on ")
                .append(String.join(",", part.on()));
        if (part.kind() != io.turbidite.core.scan.IndexDescription.Kind.BTREE) {
            command.append(" --kind ").append(part.kind().label());
        }
        if (part.unique()) {
            command.append(" --unique");
        }
        command.append(" --maintenance ").append(part.maintenance().label());
        if (part.pages().pageBytes() != primary.pages().pageBytes()) {
            command.append(" --page-bytes ").append(part.pages().pageBytes());
        }
        if (part.pages().compression() != primary.pages().compression()) {
            command.append(" --compression ").append(part.pages().compression().label());
        }
        return command.toString();
    }

    private String command(String verb, String index) {
        return "./turbidite index %s %s %s %s"
                .formatted(verb, ShellWord.of(directory), wanted.name(), index);
    }

    private void add(String key, String message) {
        problems.add(definition.origin().problem(key, message));
    }

    private static String list(List<String> names) {
        return names.isEmpty()
                ? "none"
                : names.size() == 1 ? names.getFirst() : "[%s]".formatted(String.join(", ", names));
    }
}
