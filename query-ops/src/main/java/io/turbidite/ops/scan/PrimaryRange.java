package io.turbidite.ops.scan;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;

/**
 * What part of the primary index to read. <em>Immutable.</em>
 *
 * @param keys range of encoded primary keys
 * @param filter lets the source skip components
 */
public record PrimaryRange(KeyRange keys, FilterPredicate filter) {}
