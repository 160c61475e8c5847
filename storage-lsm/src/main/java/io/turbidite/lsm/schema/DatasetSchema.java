package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * A dataset's definition, resolved and checked. <em>Immutable.</em>
 *
 * @param id unique in its store, never reused
 * @param version 1 for a new dataset, one more after each change of its definition
 * @param primaryKey over declared, required fields
 * @param filter over the filter fields, each encoded on its own; empty if there are none
 * @param catalog the secondaries
 * @param partitions 1 to 256
 * @param options how the store keeps it
 */
public record DatasetSchema(
        int id,
        int version,
        String name,
        RecordType type,
        KeySpec primaryKey,
        List<KeySpec> filter,
        IndexCatalog catalog,
        int partitions,
        DatasetOptions options) {
    private static final int PARTITION_COUNT_MAX = 256;

    public DatasetSchema {
        Limits.checkName("dataset", name);
        filter = List.copyOf(filter);
        if (id < 0) {
            throw new IllegalArgumentException("dataset %s has the number %d".formatted(name, id));
        }
        if (primaryKey.fields().isEmpty()) {
            throw new InvalidRequestException("dataset %s has no primary key".formatted(name));
        }
        for (String key : primaryKey.fields()) {
            Field field = type.field(type.indexOf(key));
            if (field.optional()) {
                throw new InvalidRequestException(
                        "dataset %s: primary key field '%s' must not be optional"
                                .formatted(name, key));
            }
        }
        if (partitions < 1 || partitions > PARTITION_COUNT_MAX) {
            throw new InvalidRequestException("dataset %s: partitions is %d but must be 1 to %d"
                    .formatted(name, partitions, PARTITION_COUNT_MAX));
        }
        MergePolicySpec mergePolicy = options.mergePolicy();
        if (options.retention() != null) {
            try {
                checkRetention(filter, mergePolicy);
            } catch (InvalidRequestException e) {
                throw new InvalidRequestException(
                        "dataset %s: %s".formatted(name, e.getMessage()), e);
            }
        }
        options.check(name);
        for (IndexSchema index : catalog.all()) {
            index.maintenance().checkOfIndex(name, index.name(), index.unique());
            if (index.hasRegion() && index.maintenance() != Maintenance.VALIDATION) {
                throw new InvalidRequestException(
                        "dataset %s: index %s is of kind %s and has maintenance %s: such an index is maintained by validation"
                                .formatted(
                                        name,
                                        index.name(),
                                        index.kind().label(),
                                        index.maintenance().label()));
            }
            index.maintenance().checkWithin(options.maintenance(), mergePolicy, name, index.name());
            index.maintenance().checkRepair(options.repair(), name, "index " + index.name());
        }
    }

    /**
     * Checks that records can be dropped by their age.
     *
     * @throws InvalidRequestException saying what is missing
     */
    public static void checkRetention(List<KeySpec> filter, MergePolicySpec mergePolicy) {
        if (filter.isEmpty()) {
            throw new InvalidRequestException(
                    "retain needs a filter field of type datetime or date");
        }
        TypeKind kind = filter.getFirst().kinds().getFirst();
        if (kind != TypeKind.DATETIME && kind != TypeKind.DATE) {
            throw new InvalidRequestException(
                    "retain goes by the first filter field, and '%s' is no datetime or date"
                            .formatted(filter.getFirst().fields().getFirst()));
        }
        if (!mergePolicy.isCorrelated() || !mergePolicy.policy().isBounded()) {
            throw new InvalidRequestException(
                    "retain needs a merge policy that is correlated and leaves large components alone: correlated-prefix, correlated-tiering or correlated-no-merge, not %s"
                            .formatted(mergePolicy.kind()));
        }
    }

    /** How filters follow updates. */
    public Maintenance maintenance() {
        return options.maintenance();
    }

    /** Which components become one. */
    public MergePolicySpec mergePolicy() {
        return options.mergePolicy();
    }

    /** How its components are laid out. */
    public ComponentOptions components() {
        return options.components();
    }

    /** How long records are kept; null: for ever. */
    public @Nullable Retention retention() {
        return options.retention();
    }

    /** Whether merges repair indexes under validation. */
    public MergeRepair repair() {
        return options.repair();
    }

    /** How invalidations reach what is being built. */
    public BitmapHandover bitmapHandover() {
        return options.bitmapHandover();
    }

    /** The secondaries that wait for the primary's merges. */
    public List<IndexSchema> deferredIndexes() {
        return indexes().stream()
                .filter(index -> index.maintenance() == Maintenance.DEFERRED)
                .toList();
    }

    /** The secondaries that have trees, in order of creation. */
    public List<IndexSchema> indexes() {
        return catalog.live();
    }

    /** The secondaries whose disk part is a region, and that are searched. */
    public List<IndexSchema> regionIndexes() {
        return indexes().stream()
                .filter(index -> index.hasRegion() && index.isReady())
                .toList();
    }

    /** The trees of a partition's memory layers: those on disk, and those that go to regions. */
    public List<TreeId> layerTreeIds() {
        List<TreeId> ids = new ArrayList<>();
        ids.add(TreeId.PRIMARY);
        indexes().forEach(index -> ids.addAll(index.layerTreeIds()));
        return ids;
    }

    /**
     * A partition's trees on disk: the primary, then those of the secondaries, deleted-key trees
     * behind.
     */
    public List<TreeId> treeIds() {
        List<TreeId> ids = new ArrayList<>();
        ids.add(TreeId.PRIMARY);
        indexes().forEach(index -> ids.addAll(index.treeIds()));
        return ids;
    }

    /** The same without those that are being built: what is on record of a partition. */
    public List<TreeId> readyTreeIds() {
        List<TreeId> ids = new ArrayList<>(treeIds());
        indexes().stream()
                .filter(index -> !index.isReady())
                .forEach(index -> ids.removeAll(index.treeIds()));
        return ids;
    }

    /** The secondary that a tree belongs to; null if there is none, or it has no trees. */
    public @Nullable IndexSchema index(TreeId tree) {
        return index(tree.indexId());
    }

    /** The secondary of that id; null if there is none, or it has no trees. */
    public @Nullable IndexSchema index(int indexId) {
        for (IndexSchema index : indexes()) {
            if (index.id() == indexId) {
                return index;
            }
        }
        return null;
    }

    /** What people call a tree. */
    public String treeName(TreeId tree) {
        IndexSchema index = index(tree);
        if (index == null) {
            return IndexSchema.PRIMARY_NAME;
        }
        return tree.isDeletedKeyTree() ? "deleted keys of " + index.name() : index.name();
    }

    /** The same with an index more, or with another state of one. */
    public DatasetSchema with(IndexSchema index) {
        return withCatalog(catalog.with(index));
    }

    /** The same without the index of that name. */
    public DatasetSchema withoutIndex(String indexName) {
        return withCatalog(catalog.without(indexName));
    }

    /** The same version with an index in another state: what was being built is ready. */
    public DatasetSchema withReady(IndexSchema index) {
        return withCatalog(version, catalog.with(index.withState(IndexSchema.State.READY)));
    }

    /**
     * The same without the ids that {@code given} has used up: trees of theirs may still be about.
     */
    public DatasetSchema withIdsUsedBy(DatasetSchema given) {
        return withCatalog(version, catalog.withNextId(given.catalog.nextId()));
    }

    private DatasetSchema withCatalog(IndexCatalog changed) {
        return withCatalog(version + 1, changed);
    }

    private DatasetSchema withCatalog(int newVersion, IndexCatalog changed) {
        return new DatasetSchema(
                id, newVersion, name, type, primaryKey, filter, changed, partitions, options);
    }

    /** How the components of a tree keep their pages. */
    public PageOptions pages(TreeId tree) {
        IndexSchema index = index(tree);
        return index == null || index.pages() == null ? components().pages() : index.pages();
    }

    /** The filter fields' names. */
    public List<String> filterFields() {
        return filter.stream().map(spec -> spec.fields().get(0)).toList();
    }
}
