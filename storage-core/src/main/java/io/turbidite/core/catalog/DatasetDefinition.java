package io.turbidite.core.catalog;

import io.turbidite.core.type.RecordType;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a dataset is, in the words of feed definitions. <em>Immutable.</em>
 *
 * @param type its declared fields
 * @param primaryKey fields, in key order
 * @param filterFields may be empty
 * @param partitions how many
 * @param options how it is kept, by the keys that {@code dataset} has in feed definitions: {@code
 *     maintenance}, {@code retain}; {@code mergePolicy} is its kind, {@code mergePolicy.sizeRatio}
 *     one of its parameters. The store knows which there are
 * @param indexes secondary indexes
 */
public record DatasetDefinition(
        String name,
        RecordType type,
        List<String> primaryKey,
        List<String> filterFields,
        int partitions,
        Map<String, String> options,
        List<IndexDefinition> indexes) {
    public DatasetDefinition {
        primaryKey = List.copyOf(primaryKey);
        filterFields = List.copyOf(filterFields);
        options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
        indexes = List.copyOf(indexes);
    }
}
