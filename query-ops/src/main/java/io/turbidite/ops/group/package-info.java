/**
 * Counting: all rows, or by the bytes of a group key.
 *
 * <p>Holds the collectors that count, the hash table, and the sources that turn counts into rows. A group
 * key is encoded (D1), so that groups come in the order of their values and partial counts of partitions
 * and runs are merged by comparing bytes. Knows nothing of how keys are taken from records. Start reading
 * at {@link io.turbidite.ops.group.GroupCollector}.
 */
@NullMarked
package io.turbidite.ops.group;

import org.jspecify.annotations.NullMarked;
