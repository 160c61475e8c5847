/**
 * Scheduling: flushes run before merges, one merge before another, and writers come in at a pace
 * behind them. Also decides what a failure of background work means.
 *
 * <p>Invariants: a flush's I/O goes before a merge's. The delay of writers grows with the work left
 * to do, up to the point where they must stop. Every answer follows from arguments, measured
 * bandwidths and the injected clock. Start reading at {@link io.turbidite.lsm.schedule.WritePace}.
 */
@NullMarked
package io.turbidite.lsm.schedule;

import org.jspecify.annotations.NullMarked;
