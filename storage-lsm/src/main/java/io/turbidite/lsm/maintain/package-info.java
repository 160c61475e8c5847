/**
 * The maintenance strategies, side by side: how the filter and the secondary indexes of a partition
 * follow one operation.
 *
 * <p>A strategy decides which entries go into which memory component; it locks nothing, logs nothing
 * and waits for nothing. Start reading at {@link io.turbidite.lsm.maintain.Maintainer}, then at the classes
 * that implement {@code IndexMaintainer}: one for each strategy of an index.
 */
@NullMarked
package io.turbidite.lsm.maintain;

import org.jspecify.annotations.NullMarked;
