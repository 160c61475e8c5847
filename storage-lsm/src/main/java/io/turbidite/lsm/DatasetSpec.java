package io.turbidite.lsm;

import io.turbidite.core.Limits;
import io.turbidite.core.index.IndexKinds;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.engine.CacheNeed;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexCatalog;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.IndexSchema.State;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.schema.Retention;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The definition of a dataset: declared fields, primary key, filter fields, indexes, and how the
 * store keeps it. Built step by step; {@link Store#createDataset} checks the whole.
 *
 * <p>Defaults: one partition, eager maintenance, tiering merges, 16 KiB pages, no compression.
 */
public final class DatasetSpec {
    private final String name;
    private final List<Field> fields = new ArrayList<>();
    private List<String> primaryKey = List.of();
    private List<String> filterFields = List.of();
    private final List<IndexSpec> indexes = new ArrayList<>();
    private int partitions = 1;
    private DatasetOptions options = DatasetOptions.defaults();

    private DatasetSpec(String name) {
        this.name = Limits.checkName("dataset", name);
    }

    /** Starts the spec of a dataset; the name is 1 to 64 of {@code [A-Za-z0-9_-]}. */
    public static DatasetSpec named(String name) {
        return new DatasetSpec(name);
    }

    /** Declares a field, for example {@code field("tailnum", "string?")}. */
    public DatasetSpec field(String fieldName, String typeLabel) {
        fields.add(Field.parse(fieldName, typeLabel));
        return this;
    }

    /**
     * Declares a field.
     *
     * @return this
     */
    public DatasetSpec field(Field field) {
        fields.add(field);
        return this;
    }

    /** The fields that identify a record, in key order; declared, not optional. */
    public DatasetSpec primaryKey(String... names) {
        primaryKey = List.of(names);
        return this;
    }

    /**
     * Filter fields: each component keeps their minimum and maximum, so searches can skip it
     * (ALS15).
     */
    public DatasetSpec filter(String... names) {
        filterFields = List.of(names);
        return this;
    }

    /**
     * Adds a secondary index.
     *
     * @return this
     */
    public DatasetSpec index(IndexSpec index) {
        indexes.add(index);
        return this;
    }

    /** The number of partitions, 1 to 256. The hash of its key puts a record into one of them. */
    public DatasetSpec partitions(int count) {
        partitions = count;
        return this;
    }

    /**
     * How filters follow updates, and indexes that say nothing else. Default: eager.
     *
     * @return this
     */
    public DatasetSpec maintenance(Maintenance strategy) {
        options = options.toBuilder().maintenance(strategy).build();
        return this;
    }

    /**
     * Which components become one. Default: tiering.
     *
     * @return this
     */
    public DatasetSpec mergePolicy(MergePolicySpec policy) {
        options = options.toBuilder().mergePolicy(policy).build();
        return this;
    }

    /**
     * How long the dataset keeps records, by the age of their first filter field, a datetime or a
     * date. The store drops whole components, oldest first, once all their records are older; until
     * then an old record stays. Needs a correlated, bounded merge policy. Default: for ever.
     */
    public DatasetSpec retain(Duration age) {
        return retain(Retention.of(age));
    }

    /** As {@link #retain(Duration)}. */
    public DatasetSpec retain(Retention age) {
        options = options.toBuilder().retention(age).build();
        return this;
    }

    /** Whether merges repair indexes under validation. Default: they do. */
    public DatasetSpec repair(MergeRepair choice) {
        options = options.toBuilder().repair(choice).build();
        return this;
    }

    /**
     * How marks reach components that a flush or a merge is building, under
     * {@link Maintenance#MUTABLE_BITMAP}. Default: by a side-file.
     */
    public DatasetSpec bitmapHandover(BitmapHandover method) {
        options = options.toBuilder().bitmapHandover(method).build();
        return this;
    }

    /** Page size, compression and Bloom filter of the disk components. */
    public DatasetSpec components(ComponentOptions chosen) {
        options = options.toBuilder().components(chosen).build();
        return this;
    }

    /** All at once, instead of those that were given before. */
    public DatasetSpec options(DatasetOptions all) {
        options = all;
        return this;
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /**
     * The fields that were declared so far.
     *
     * @throws io.turbidite.core.InvalidRequestException if a name comes twice, or there are too
     *     many
     */
    public RecordType type() {
        return RecordType.of(fields);
    }

    /** The fields of the primary key, in key order; empty if none was named. */
    public List<String> primaryKey() {
        return primaryKey;
    }

    /** The filter fields, in order; empty if there are none. */
    public List<String> filterFields() {
        return filterFields;
    }

    /** The secondary indexes so far. */
    public List<IndexSpec> indexes() {
        return List.copyOf(indexes);
    }

    /** How many partitions it gets. */
    public int partitions() {
        return partitions;
    }

    /** How filters follow updates. */
    public Maintenance maintenance() {
        return options.maintenance();
    }

    /** Which components become one. */
    public MergePolicySpec mergePolicy() {
        return options.mergePolicy();
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

    /** How its components are laid out. */
    public ComponentOptions components() {
        return options.components();
    }

    /** How the store will keep it. */
    public DatasetOptions options() {
        return options;
    }

    /**
     * Makes all checks of {@link Store#createDataset} that concern the specification itself,
     * without a store.
     *
     * @return this
     * @throws io.turbidite.core.InvalidRequestException saying what would be refused
     */
    public DatasetSpec check() {
        var _ = resolve(1, null);
        return this;
    }

    /**
     * As {@link #check()}, and makes the checks of {@link Store#createDataset} that concern a store
     * with these options.
     *
     * @throws io.turbidite.core.InvalidRequestException saying what would be refused
     */
    public DatasetSpec checkWith(StoreOptions options) {
        CacheNeed.check(resolve(1, options.indexKinds()), options.cacheBytes());
        return this;
    }

    /**
     * The engine's form of this definition.
     *
     * @param kinds that the store was given; null if that is not known yet
     * @throws io.turbidite.core.InvalidRequestException naming what does not go together
     */
    DatasetSchema resolve(int id, @Nullable IndexKinds kinds) {
        RecordType type = type();
        options.components().compression().requireAvailable();
        String use = "dataset " + name;
        KeySpec key = KeySpec.of(type, primaryKey, use + ": primary key");
        List<KeySpec> filter = new ArrayList<>();
        for (String field : filterFields) {
            filter.add(KeySpec.of(type, List.of(field), use + ": filter"));
        }
        List<IndexSchema> resolved = new ArrayList<>();
        for (IndexSpec index : indexes) {
            resolved.add(index.resolve(
                    kinds, name, type, key, resolved.size() + 1, maintenance(), State.READY));
        }
        return new DatasetSchema(
                id,
                1,
                name,
                type,
                key,
                filter,
                IndexCatalog.of(name, resolved, resolved.size() + 1),
                partitions,
                options);
    }
}
