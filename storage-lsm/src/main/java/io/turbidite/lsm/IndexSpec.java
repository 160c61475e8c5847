package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.index.FieldKeys;
import io.turbidite.core.index.IndexKinds;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The definition of a secondary index, for a new dataset or an existing one. <em>Immutable.</em>
 *
 * @param name 1 to 64 of {@code [A-Za-z0-9_-]}, unique in its dataset
 * @param kind how it can be searched
 * @param fields declared fields, in key order; at least one
 * @param unique true if no two records may have the same key; a key with a null or missing field
 *     equals no other
 * @param pages how its components keep their pages; null for the dataset's pages, and of kind
 *     {@code pm}, which has no components
 * @param maintenance how it follows updates; null for the default of the dataset's secondaries
 * @param parameters what else its kind takes, by name: the {@code tokenizer} of an inverted index
 */
public record IndexSpec(
        String name,
        IndexDescription.Kind kind,
        List<String> fields,
        boolean unique,
        @Nullable PageOptions pages,
        @Nullable Maintenance maintenance,
        Map<String, String> parameters) {
    public IndexSpec {
        Limits.checkName("index", name);
        if (name.equals(IndexSchema.PRIMARY_NAME)) {
            throw new InvalidRequestException(
                    "no index may be named '%s': that is the primary".formatted(name));
        }
        fields = List.copyOf(fields);
        parameters = Map.copyOf(parameters);
        if (fields.isEmpty()) {
            throw new InvalidRequestException("index %s names no field".formatted(name));
        }
        if (unique && kind != IndexDescription.Kind.BTREE) {
            throw new InvalidRequestException("index %s: only a btree can be unique, not kind %s"
                    .formatted(name, kind.label()));
        }
        if (pages != null && kind.isGiven()) {
            throw new InvalidRequestException(
                    "index %s: pages of components don't go with kind %s, which has none; its own are a parameter"
                            .formatted(name, kind.label()));
        }
    }

    /** An index without parameters. */
    public IndexSpec(
            String name,
            IndexDescription.Kind kind,
            List<String> fields,
            boolean unique,
            @Nullable PageOptions pages,
            @Nullable Maintenance maintenance) {
        this(name, kind, fields, unique, pages, maintenance, Map.of());
    }

    /** A B+-tree over one or more fields. */
    public static IndexSpec btree(String name, String... fields) {
        return new IndexSpec(name, IndexDescription.Kind.BTREE, List.of(fields), false, null, null);
    }

    /**
     * An R-tree over a point or a rectangle: for windows. A record without a value has no entry.
     */
    public static IndexSpec rtree(String name, String field) {
        return new IndexSpec(name, IndexDescription.Kind.RTREE, List.of(field), false, null, null);
    }

    /** An inverted index: finds records by the words of a string. */
    public static IndexSpec inverted(String name, String field) {
        return new IndexSpec(
                name, IndexDescription.Kind.INVERTED, List.of(field), false, null, null);
    }

    /**
     * An index over one or more fields that lies in byte-addressable memory, or in a mapped file:
     * its store needs a kind of that name ({@link StoreOptions#withIndexKinds}).
     */
    public static IndexSpec pm(String name, String... fields) {
        return new IndexSpec(name, IndexDescription.Kind.PM, List.of(fields), false, null, null);
    }

    /** The same index with a parameter of its kind. */
    public IndexSpec withParameter(String parameter, String value) {
        Map<String, String> more = new HashMap<>(parameters);
        more.put(parameter, value);
        return new IndexSpec(name, kind, fields, unique, pages, maintenance, more);
    }

    /** The same index, but no two records may have the same key. */
    public IndexSpec asUnique() {
        return new IndexSpec(name, kind, fields, true, pages, maintenance, parameters);
    }

    /** The same index with pages of its own instead of the dataset's. */
    public IndexSpec withPages(PageOptions options) {
        return new IndexSpec(name, kind, fields, unique, options, maintenance, parameters);
    }

    /** The same index with a maintenance strategy of its own instead of the dataset's. */
    public IndexSpec withMaintenance(Maintenance strategy) {
        return new IndexSpec(name, kind, fields, unique, pages, strategy, parameters);
    }

    /**
     * The engine's form of this index, for a dataset.
     *
     * @param kinds that the store was given; null if that is not known yet
     */
    IndexSchema resolve(
            @Nullable IndexKinds kinds,
            String dataset,
            RecordType type,
            KeySpec primaryKey,
            int id,
            Maintenance ofDataset,
            IndexSchema.State state) {
        if (pages != null) {
            pages.compression().requireAvailable();
        }
        String use = "dataset %s: index %s".formatted(dataset, name);
        Map<String, String> defined = kinds == null || !kind.isGiven()
                ? parameters
                : kinds.require(use, kind.label())
                        .define(use, parameters, FieldKeys.bytesMax(primaryKey));
        EntryKeys entryKeys =
                IndexDescription.entryKeys(kind, type, fields, use, KeyForm.CURRENT, defined);
        if (unique && entryKeys.isMultiValued()) {
            throw new InvalidRequestException(
                    "%s is on the elements of an array, %s, and can't be unique"
                            .formatted(use, fields));
        }
        return new IndexSchema(
                id,
                name,
                kind,
                entryKeys,
                maintenance == null ? byDefault(ofDataset) : maintenance,
                unique,
                pages,
                state);
    }

    private Maintenance byDefault(Maintenance ofDataset) {
        return kind.isGiven() ? Maintenance.VALIDATION : ofDataset.ofItsIndexes();
    }
}
