/**
 * The steps of a write, and of a write that a crash has left in the log: operations in columns, the
 * work left to do, key stripes, unique keys, the log record, replay.
 *
 * <p>Invariants: locks are taken in this order: key stripes ascending, then gates in partition
 * order. Nothing waits inside a gate. Replaying the same log twice over the same components gives
 * the same layers. Start reading at {@link io.turbidite.lsm.write.WritePath}, then {@link
 * io.turbidite.lsm.write.Operations} and {@code WriteSet}; after a crash at {@link
 * io.turbidite.lsm.write.Replay}.
 */
@NullMarked
package io.turbidite.lsm.write;

import org.jspecify.annotations.NullMarked;
