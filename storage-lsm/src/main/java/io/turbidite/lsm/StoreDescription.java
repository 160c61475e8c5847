package io.turbidite.lsm;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.IndexDescription.Kind;
import io.turbidite.lsm.component.ComponentDamage;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentSpace;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.IndexSchema.State;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.Trash;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The contents of a store at a moment; for people and tools.
 *
 * @param logBytes bytes of log kept
 * @param lastTimestamp the highest timestamp drawn
 * @param watermark the highest timestamp that readers see
 */
public record StoreDescription(
        String directory,
        long lastTimestamp,
        long watermark,
        long logBytes,
        List<SnapshotDescription> snapshots,
        List<TrashDescription> trash,
        List<DatasetDescription> datasets) {
    /**
     * A file that an opening found and no manifest names; {@link Store#emptyTrash} deletes it.
     *
     * @param name in the directory {@code trash}; without its suffix, if any, it is the name the
     *     file had in {@code data}
     * @param isFound whether this opening found it in {@code data}
     * @param isInData whether it is still in {@code data}: this opening only reads, and the next
     *     one that writes moves it
     */
    public record TrashDescription(String name, long bytes, boolean isFound, boolean isInData) {
        /** The bytes of all these files. */
        public static long bytes(List<TrashDescription> files) {
            return files.stream().mapToLong(TrashDescription::bytes).sum();
        }

        static List<TrashDescription> of(List<Trash.Item> items) {
            return items.stream()
                    .map(item -> new TrashDescription(
                            item.name(),
                            item.bytes(),
                            item.place() != Trash.Place.TRASH,
                            item.place() == Trash.Place.DATA))
                    .toList();
        }
    }

    /**
     * A moment that readers keep alive; oldest first.
     *
     * @param count the number of open snapshots and views of this moment
     * @param ageMicros since the first of them was opened
     */
    public record SnapshotDescription(long timestamp, int count, long ageMicros) {}

    /**
     * A dataset.
     *
     * @param schemaVersion 1 at its creation, one more after each change of its indexes
     * @param options how the store keeps it
     */
    public record DatasetDescription(
            String name,
            int schemaVersion,
            String type,
            List<String> primaryKey,
            List<String> filterFields,
            DatasetOptions options,
            List<PartitionDescription> partitions) {}

    /**
     * A partition.
     *
     * @param memoryEntries entries of the primary that are not on disk yet
     * @param memoryBytes memory of all its memory components
     */
    public record PartitionDescription(
            int number,
            long flushedTimestamp,
            long memoryEntries,
            long memoryBytes,
            List<IndexDescription> indexes) {}

    /**
     * An index of a partition; the first is the primary.
     *
     * @param kind {@code btree}, {@code rtree}, {@code inverted} or {@code pm}
     * @param parameters what its entries depend on beside the fields, by name: of an inverted index
     *     {@code tokenizer} and a mark of the tables it goes by
     * @param maintenance how it follows updates; the dataset's strategy for the primary
     * @param pages how new components keep their pages
     * @param state {@code ready}, {@code building} or {@code disabled}
     * @param garbageEntries in a deferred index, about how many entries on disk wait until a merge
     *     of the primary finds them obsolete; 0 in others
     * @param repair the place of its repair, for an index under auto; else null
     * @param deletedKeys the deleted-key trees of a deleted-key index's components, in their order;
     *     empty in others
     * @param region what the kind says of the region that is in place of components, by name, its
     *     mode first; empty in others, and where it is being built
     */
    public record IndexDescription(
            String name,
            String kind,
            List<String> fields,
            Map<String, String> parameters,
            boolean unique,
            String maintenance,
            PageOptions pages,
            String state,
            long garbageEntries,
            @Nullable String repair,
            List<ComponentDescription> components,
            List<ComponentDescription> deletedKeys,
            Map<String, String> region) {}

    /**
     * A disk component, newest first.
     *
     * @param repairedTimestamp up to where its entries were checked against the primary
     * @param dead entries that are known to be superseded
     * @param space where the bytes are
     * @param filters for each filter field its smallest and largest value
     * @param quarantine what it is set aside for; null if it is sound, as far as one knows. Where
     *     its file can't be opened, {@code entries} and {@code space} are not known
     * @param underWork whether a merge, a repair or retention is about to replace it
     */
    public record ComponentDescription(
            long fileId,
            long minTimestamp,
            long maxTimestamp,
            long bytes,
            long entries,
            long antimatter,
            long repairedTimestamp,
            long dead,
            ComponentSpace space,
            List<FilterDescription> filters,
            @Nullable String quarantine,
            boolean underWork) {}

    /**
     * A filter of a component.
     *
     * @param min null if no entry had a value
     * @param hasAbsent whether some record had no value
     */
    public record FilterDescription(
            String field, @Nullable Object min, @Nullable Object max, boolean hasAbsent) {}

    static StoreDescription of(Store store) {
        List<DatasetDescription> datasets = new ArrayList<>();
        for (Dataset dataset : store.datasets()) {
            DatasetSchema schema = dataset.schema();
            datasets.add(new DatasetDescription(
                    schema.name(),
                    schema.version(),
                    schema.type().toString(),
                    schema.primaryKey().fields(),
                    schema.filterFields(),
                    schema.options(),
                    dataset.partitions().stream().map(StoreDescription::of).toList()));
        }
        return new StoreDescription(
                store.core().disk().description(),
                store.core().timestamps().lastDrawn(),
                store.watermark(),
                store.core().log().bytes(),
                store.core().timestamps().snapshots().stream()
                        .map(held -> new SnapshotDescription(
                                held.timestamp(), held.count(), held.ageNanos() / 1_000))
                        .toList(),
                TrashDescription.of(store.core().trash().items()),
                datasets);
    }

    private static PartitionDescription of(Partition partition) {
        Version pinned = partition.pin();
        DatasetSchema schema = pinned.schema();
        try {
            List<IndexDescription> indexes = new ArrayList<>();
            boolean defers = schema.indexes().stream()
                    .anyMatch(index -> index.maintenance() == Maintenance.DEFERRED);
            if (defers) {
                partition.garbage().refresh(pinned);
            }
            for (TreeId tree : schema.treeIds()) {
                if (tree.isDeletedKeyTree()) {
                    continue;
                }
                IndexSchema index = schema.index(tree);
                List<String> fields = index == null ? schema.primaryKey().fields() : index.fields();
                List<ComponentDescription> components = components(pinned, tree);
                boolean isDeferred = index != null && index.maintenance() == Maintenance.DEFERRED;
                List<ComponentDescription> deletedKeys = index != null && index.hasDeletedKeyTree()
                        ? components(pinned, tree.deletedKeyTree())
                        : List.of();
                String state = (index == null ? State.READY : index.state()).label();
                indexes.add(new IndexDescription(
                        schema.treeName(tree),
                        (index == null ? Kind.BTREE : index.kind()).label(),
                        fields,
                        index == null ? Map.of() : index.entryKeys().parameters(),
                        index == null || index.unique(),
                        (index == null ? schema.maintenance() : index.maintenance()).label(),
                        schema.pages(tree),
                        state,
                        isDeferred ? partition.garbage().entries(pinned) : 0,
                        index == null || index.maintenance() != Maintenance.AUTO
                                ? null
                                : partition
                                        .work()
                                        .repair(tree.indexId())
                                        .placement()
                                        .label(),
                        components,
                        deletedKeys,
                        Map.of()));
            }
            for (IndexSchema index : schema.catalog().all()) {
                if (index.hasRegion() || index.state() == State.DISABLED) {
                    RegionLayer region = pinned.region(index.tree());
                    indexes.add(new IndexDescription(
                            index.name(),
                            index.kind().label(),
                            index.fields(),
                            index.entryKeys().parameters(),
                            index.unique(),
                            index.maintenance().label(),
                            schema.pages(index.tree()),
                            index.state().label(),
                            0,
                            null,
                            List.of(),
                            List.of(),
                            region == null ? Map.of() : region.handle().region().statistics()));
                }
            }
            MemoryLayer frozen = pinned.frozen();
            long entries = pinned.current().tree(TreeId.PRIMARY).entryCount();
            long bytes = pinned.current().bytesUsed();
            return new PartitionDescription(
                    partition.number(),
                    partition.flushedTimestamp(),
                    frozen == null
                            ? entries
                            : entries + frozen.tree(TreeId.PRIMARY).entryCount(),
                    frozen == null ? bytes : bytes + frozen.bytesUsed(),
                    indexes);
        } finally {
            pinned.unpin();
        }
    }

    private static List<ComponentDescription> components(Version pinned, TreeId tree) {
        return pinned.tree(tree).stream()
                .map(handle -> of(pinned.schema(), handle))
                .toList();
    }

    private static ComponentDescription of(DatasetSchema schema, ComponentHandle handle) {
        DiskComponent component = handle.component();
        ComponentDamage damage = component.damage();
        ComponentFilter filter = component.filter();
        List<FilterDescription> filters = new ArrayList<>();
        for (int field = 0; field < filter.fieldCount(); field++) {
            KeySpec spec = schema.filter().get(field);
            filters.add(new FilterDescription(
                    spec.fields().get(0),
                    decode(spec, filter.min(field)),
                    decode(spec, filter.max(field)),
                    filter.hasAbsent(field)));
        }
        return new ComponentDescription(
                handle.state().fileId(),
                handle.state().minTimestamp(),
                handle.state().maxTimestamp(),
                handle.state().bytes(),
                component.entryCount(),
                component.antimatterCount(),
                handle.state().repairedTimestamp(),
                component.entryCount() - handle.livingCount(),
                component.space(),
                filters,
                damage == null ? null : damage.cause(),
                handle.isTaken());
    }

    private static @Nullable Object decode(KeySpec spec, byte @Nullable [] encoded) {
        return encoded == null ? null : spec.decode(Slice.of(encoded), 0).get(0);
    }
}
