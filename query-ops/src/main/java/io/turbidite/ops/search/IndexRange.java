package io.turbidite.ops.search;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;

/**
 * What part of a secondary index to search. <em>Immutable.</em>
 *
 * @param index the index
 * @param keys range of encoded secondary keys
 * @param filter lets the source skip components
 */
public record IndexRange(IndexDescription index, KeyRange keys, FilterPredicate filter) {}
