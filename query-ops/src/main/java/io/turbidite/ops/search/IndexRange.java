package io.turbidite.ops.search;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;

import java.util.List;

/**
 * What part of a secondary index to search. <em>Immutable.</em>
 *
 * @param index the index
 * @param keys range of encoded secondary keys
 * @param filter lets the source skip components
 * @param narrowed the index's first fields, those that the range is made of
 * @param isExact whether keys in the range have no other values of these fields than are wanted
 */
public record IndexRange(
        IndexDescription index,
        KeyRange keys,
        FilterPredicate filter,
        List<String> narrowed,
        boolean isExact) {}
