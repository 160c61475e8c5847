package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.merge.MergePolicySpec;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A dataset's definition, resolved and checked. <em>Immutable.</em>
 *
 * @param id unique in its store, never reused
 * @param primaryKey over declared, required fields
 * @param filter over the filter fields, each encoded on its own; empty if there are none
 * @param indexes the secondaries, in order of creation
 * @param partitions 1 to 256
 */
public record DatasetSchema(
        int id,
        String name,
        RecordType type,
        KeySpec primaryKey,
        List<KeySpec> filter,
        List<IndexSchema> indexes,
        int partitions,
        Maintenance maintenance,
        MergePolicySpec mergePolicy,
        ComponentOptions components) {
    private static final int PARTITION_COUNT_MAX = 256;

    public DatasetSchema {
        Limits.checkName("dataset", name);
        filter = List.copyOf(filter);
        indexes = List.copyOf(indexes);
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
        Set<String> names = new HashSet<>();
        for (IndexSchema index : indexes) {
            if (!names.add(index.name())) {
                throw new InvalidRequestException(
                        "dataset %s: two indexes are named '%s'".formatted(name, index.name()));
            }
        }
        if (maintenance != Maintenance.EAGER) {
            throw new InvalidRequestException("dataset %s: maintenance %s is not built; eager is"
                    .formatted(name, maintenance.label()));
        }
    }

    /** Trees of a partition: the primary, then each secondary. */
    public int treeCount() {
        return 1 + indexes.size();
    }

    /** The position in {@link #indexes()} of the index with this name, or -1. */
    public int indexPosition(String indexName) {
        for (int i = 0; i < indexes.size(); i++) {
            if (indexes.get(i).name().equals(indexName)) {
                return i;
            }
        }
        return -1;
    }

    /** The filter fields' names. */
    public List<String> filterFields() {
        return filter.stream().map(spec -> spec.fields().get(0)).toList();
    }
}
