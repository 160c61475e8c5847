/**
 * What orders and protects writers: timestamps and the watermark, the gate that lets a flush switch
 * memory components, the key stripes, the log record of an operation.
 *
 * <p>Locks are taken in this order: key stripes ascending, then gates in partition order; nothing waits
 * inside a gate. Start reading at {@link io.turbidite.lsm.write.Timestamps}.
 */
@NullMarked
package io.turbidite.lsm.write;

import org.jspecify.annotations.NullMarked;
