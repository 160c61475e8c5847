/**
 * Window functions: values of a row that come from the rows around it.
 *
 * <p>Holds what callers ask for ({@link io.turbidite.ops.window.WindowFunction}) and two operators
 * over rows that come by partition and, within it, in the window's order: {@link
 * io.turbidite.ops.window.UnitRows} for what rows of one partition, or equal ones of it, have in
 * common, and {@link io.turbidite.ops.window.SlidingRows} for what moves with each row. Neither
 * sorts: {@code ops.plan} puts an order below. Invariants: each row that comes in goes out once, in
 * its order; what is kept is bounded, in memory or in runs on disk. Start reading at {@code
 * WindowFunction}, then {@code WindowCall}.
 */
@NullMarked
package io.turbidite.ops.window;

import org.jspecify.annotations.NullMarked;
