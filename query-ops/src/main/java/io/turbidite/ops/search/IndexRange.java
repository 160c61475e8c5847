package io.turbidite.ops.search;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * What part of a secondary index to search. <em>Immutable.</em>
 *
 * @param index the index
 * @param search which entries
 * @param filter lets the source skip components
 * @param narrowed the index's first fields, those that a range of keys is made of; else none
 * @param isExact whether the entries have no other values of these fields than are wanted
 */
public record IndexRange(
        IndexDescription index,
        IndexSearch search,
        FilterPredicate filter,
        List<String> narrowed,
        boolean isExact) {
    /** The field whose windows or circles it is made of; null if it is none. */
    public @Nullable String windowed() {
        return search instanceof IndexSearch.Spatial ? index.fields().getFirst() : null;
    }
}
