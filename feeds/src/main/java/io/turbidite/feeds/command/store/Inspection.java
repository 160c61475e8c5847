package io.turbidite.feeds.command.store;

import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.command.common.DisabledIndexes;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.StoreDescription.FilterDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
import io.turbidite.lsm.StoreDescription.PartitionDescription;
import io.turbidite.lsm.StoreDescription.TrashDescription;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A store's description as JSON and as text. Static, without state. */
public final class Inspection {
    private Inspection() {}

    /** What {@code inspect --json} prints. */
    public static Map<String, @Nullable Object> toMap(
            String directory, StoreDescription store, Function<String, RecordType> typeOf) {
        return Json.line()
                .put("store", directory)
                .put("lastTimestamp", store.lastTimestamp())
                .put("watermark", store.watermark())
                .put("logBytes", store.logBytes())
                .put(
                        "snapshots",
                        store.snapshots().stream()
                                .map(held -> Json.line()
                                        .put("timestamp", held.timestamp())
                                        .put("count", held.count())
                                        .put("ageSeconds", held.ageMicros() / 1_000_000)
                                        .toMap())
                                .toList())
                .put("trash", toList(store.trash()))
                .put(
                        "datasets",
                        store.datasets().stream()
                                .map(dataset -> toMap(dataset, typeOf.apply(dataset.name())))
                                .toList())
                .toMap();
    }

    public static List<Map<String, @Nullable Object>> toList(List<TrashDescription> trash) {
        return trash.stream()
                .map(file -> Json.line()
                        .put("name", file.name())
                        .put("bytes", file.bytes())
                        .put("inData", file.isInData())
                        .toMap())
                .toList();
    }

    private static Map<String, @Nullable Object> toMap(
            DatasetDescription dataset, RecordType type) {
        Json.Line fields = Json.line();
        type.declared().forEach(field -> fields.put(field.name(), field.typeLabel()));
        Json.Line line = Json.line()
                .put("name", dataset.name())
                .put("schemaVersion", dataset.schemaVersion())
                .put("type", fields.toMap())
                .put("primaryKey", dataset.primaryKey())
                .put("filter", dataset.filterFields());
        dataset.options().labels().forEach(line::put);
        return line.put(
                        "partitions",
                        dataset.partitions().stream().map(Inspection::toMap).toList())
                .toMap();
    }

    private static Map<String, @Nullable Object> toMap(PartitionDescription partition) {
        return Json.line()
                .put("partition", partition.number())
                .put("flushedTs", partition.flushedTimestamp())
                .put("memoryEntries", partition.memoryEntries())
                .put("memoryBytes", partition.memoryBytes())
                .put(
                        "indexes",
                        partition.indexes().stream().map(Inspection::toMap).toList())
                .toMap();
    }

    private static Map<String, @Nullable Object> toMap(IndexDescription index) {
        return Json.line()
                .put("name", index.name())
                .put("kind", index.kind())
                .put("on", index.fields())
                .put("parameters", new TreeMap<>(index.parameters()))
                .put("pageBytes", index.pages().pageBytes())
                .put("compression", index.pages().compression().label())
                .put("unique", index.unique())
                .put("maintenance", index.maintenance())
                .put("state", index.state())
                .put("garbageEntries", index.garbageEntries())
                .put("repair", index.repair())
                .put(
                        "components",
                        index.components().stream().map(Inspection::toMap).toList())
                .put(
                        "deletedKeys",
                        index.deletedKeys().stream().map(Inspection::toMap).toList())
                .put("region", new TreeMap<>(index.region()))
                .toMap();
    }

    /**
     * Of indexes that are maintained eagerly nothing is ever left to repair, and nothing is dead.
     */
    private static Map<String, @Nullable Object> toMap(ComponentDescription component) {
        return Json.line()
                .put("minTs", component.minTimestamp())
                .put("maxTs", component.maxTimestamp())
                .put("file", component.fileId())
                .put("bytes", component.bytes())
                .put("entries", component.entries())
                .put("antimatter", component.antimatter())
                .put("deadEntries", component.dead())
                .put("repairedTs", component.repairedTimestamp())
                .put(
                        "filters",
                        component.filters().stream().map(Inspection::toMap).toList())
                .put("quarantine", component.quarantine())
                .put("underWork", component.underWork())
                .toMap();
    }

    private static Map<String, @Nullable Object> toMap(FilterDescription filter) {
        return Json.line()
                .put("field", filter.field())
                .put("min", filter.min())
                .put("max", filter.max())
                .put("hasAbsent", filter.hasAbsent())
                .toMap();
    }

    static void print(String directory, StoreDescription store, PrintStream out) {
        out.println("store %s: %s, last timestamp %s, log %s"
                .formatted(
                        directory,
                        Words.count(store.datasets().size(), "dataset"),
                        Words.number(store.lastTimestamp()),
                        Words.bytes(store.logBytes())));
        if (!store.trash().isEmpty()) {
            long inData =
                    store.trash().stream().filter(TrashDescription::isInData).count();
            out.println("trash: %s, %s%s; ./turbidite trash lists and empties it"
                    .formatted(
                            Words.count(store.trash().size(), "file"),
                            Words.bytes(TrashDescription.bytes(store.trash())),
                            inData == 0
                                    ? ""
                                    : ", %s of them still in data"
                                            .formatted(Words.number(inData))));
        }
        store.datasets().forEach(dataset -> print(directory, dataset, out));
    }

    private static void print(String directory, DatasetDescription dataset, PrintStream out) {
        out.println();
        out.println("dataset %s %s".formatted(dataset.name(), dataset.type()));
        out.println(
                "  schema version %d, primary key %s, filter %s, maintenance %s, merge policy %s"
                        .formatted(
                                dataset.schemaVersion(),
                                String.join(", ", dataset.primaryKey()),
                                dataset.filterFields().isEmpty()
                                        ? "none"
                                        : String.join(", ", dataset.filterFields()),
                                dataset.options().maintenance().label(),
                                dataset.options().mergePolicy()));
        DisabledIndexes.of(dataset)
                .forEach(index ->
                        out.println("  " + DisabledIndexes.note(directory, dataset.name(), index)));
        for (PartitionDescription partition : dataset.partitions()) {
            out.println("  partition %d: on disk up to timestamp %s, in memory %s (%s)"
                    .formatted(
                            partition.number(),
                            Words.number(partition.flushedTimestamp()),
                            partition.memoryEntries() == 1
                                    ? "1 entry"
                                    : Words.number(partition.memoryEntries()) + " entries",
                            Words.bytes(partition.memoryBytes())));
            IndexDescription primary = partition.indexes().getFirst();
            partition
                    .indexes()
                    .forEach(index -> print(
                            index, dataset.options().maintenance().label(), primary.pages(), out));
        }
    }

    /** Tells what the index has otherwise than its dataset. */
    private static void print(
            IndexDescription index, String maintenance, PageOptions pages, PrintStream out) {
        String tokenizer = index.parameters().get(TokenKeys.TOKENIZER);
        String path = index.parameters().get(PmKind.PATH);
        out.println("    %s%sindex %s on %s%s%s%s%s%s%s%s%s%s"
                .formatted(
                        index.unique() && !index.name().equals("primary") ? "unique " : "",
                        index.kind().equals("btree") ? "" : index.kind() + " ",
                        index.name(),
                        String.join(", ", index.fields()),
                        tokenizer == null ? "" : " by " + tokenizer,
                        path == null ? "" : " in " + path,
                        index.state().equals("ready") ? "" : " (" + index.state() + ")",
                        index.maintenance().equals(maintenance)
                                ? ""
                                : ", maintenance " + index.maintenance(),
                        index.pages().compression() == pages.compression()
                                ? ""
                                : ", compression " + index.pages().compression().label(),
                        index.pages().pageBytes() == pages.pageBytes()
                                ? ""
                                : ", pages of " + Words.bytes(index.pages().pageBytes()),
                        index.garbageEntries() == 0
                                ? ""
                                : ", about %s entries obsolete"
                                        .formatted(Words.number(index.garbageEntries())),
                        index.repair() == null ? "" : ", repair " + index.repair(),
                        !index.region().isEmpty()
                                ? ": " + region(index.region())
                                : index.components().isEmpty() ? ": no component yet" : ""));
        boolean isEager = index.maintenance().equals(Maintenance.EAGER.label());
        index.components().forEach(component -> print(component, "", isEager, out));
        index.deletedKeys().forEach(component -> print(component, "deleted keys ", isEager, out));
    }

    /** The mode first, as it says what a power cut costs. */
    private static String region(Map<String, String> region) {
        return region.entrySet().stream()
                .map(entry -> "%s %s".formatted(entry.getKey(), entry.getValue()))
                .collect(Collectors.joining(", ", "region of ", ""));
    }

    private static void print(
            ComponentDescription component, String what, boolean isEager, PrintStream out) {
        out.println("      %s[%s, %s] file %d, %s, %s entries, %s anti-matter%s%s%s%s"
                .formatted(
                        what,
                        Words.number(component.minTimestamp()),
                        Words.number(component.maxTimestamp()),
                        component.fileId(),
                        Words.bytes(component.bytes()),
                        Words.number(component.entries()),
                        Words.number(component.antimatter()),
                        repair(component, isEager),
                        component.filters().stream()
                                .map(f -> ", %s %s..%s%s"
                                        .formatted(
                                                f.field(),
                                                f.min() == null ? "" : f.min(),
                                                f.max() == null ? "" : f.max(),
                                                f.hasAbsent() ? " or absent" : ""))
                                .collect(Collectors.joining()),
                        component.quarantine() == null
                                ? ""
                                : ", in quarantine: " + component.quarantine(),
                        component.underWork() ? ", about to be replaced" : ""));
    }

    /**
     * Only where it says something: a component as flushed is checked up to its end, and an eager
     * index has nothing to be checked, whatever its merges have noted.
     */
    private static String repair(ComponentDescription component, boolean isEager) {
        String invalid = component.dead() == 0
                ? ""
                : ", %s invalid".formatted(Words.number(component.dead()));
        return isEager || component.repairedTimestamp() == component.maxTimestamp()
                ? invalid
                : "%s, repaired to %s"
                        .formatted(invalid, Words.number(component.repairedTimestamp()));
    }
}
