/**
 * Operators that join tuples of two sources.
 *
 * <p>Holds the index nested-loop join. Knows frames and the reading side of a source, but no plans.
 * Start reading at {@link io.turbidite.ops.join.LookupJoin}.
 */
@NullMarked
package io.turbidite.ops.join;

import org.jspecify.annotations.NullMarked;
