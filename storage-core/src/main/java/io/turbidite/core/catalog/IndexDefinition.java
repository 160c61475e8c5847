package io.turbidite.core.catalog;

import io.turbidite.core.scan.IndexDescription;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a secondary index is, in the words of feed definitions. <em>Immutable.</em>
 *
 * @param fields in key order
 * @param unique whether no two records may have the same key
 * @param options how it is kept, by the keys that {@code dataset.indexes[]} has in feed
 *     definitions: {@code maintenance}, {@code tokenizer}. The store knows which there are
 * @param state {@code ready}, {@code building} or {@code disabled}; of one that is to be created
 *     {@code ready}
 */
public record IndexDefinition(
        String name,
        IndexDescription.Kind kind,
        List<String> fields,
        boolean unique,
        Map<String, String> options,
        String state) {
    /** Of an index that is ready. */
    public static final String READY = "ready";

    public IndexDefinition {
        fields = List.copyOf(fields);
        options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
    }
}
