/**
 * Who goes on next: flushes before merges, one merge before another, and at what pace writers may come
 * in behind them; what a failure of background work means, and what is done when space is short.
 *
 * <p>Invariants: a flush's I/O goes before a merge's; the delay of writers grows with what is left to do
 * and ends where they must stop; every answer follows from arguments, measured bandwidths and the
 * injected clock. Start reading at {@link io.turbidite.lsm.schedule.WritePace}.
 */
@NullMarked
package io.turbidite.lsm.schedule;

import org.jspecify.annotations.NullMarked;
