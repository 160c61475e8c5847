/**
 * The order of writers and readers: timestamps with the watermark and the registered snapshots, and
 * the gate that lets a flush switch memory components.
 *
 * <p>Knows no partition, no key and no log. Invariants: a timestamp at or below the watermark
 * belongs to no write in flight; nothing waits inside a gate. Start reading at {@link
 * io.turbidite.lsm.order.Timestamps}.
 */
@NullMarked
package io.turbidite.lsm.order;

import org.jspecify.annotations.NullMarked;
