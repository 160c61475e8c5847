/**
 * Operators that put tuples of two sources side by side.
 *
 * <p>Holds the index nested-loop join. Knows frames, and the reading side of a source; nothing of plans. Start
 * reading at {@link io.turbidite.ops.join.LookupJoin}.
 */
@NullMarked
package io.turbidite.ops.join;

import org.jspecify.annotations.NullMarked;
