/**
 * Background work and waiting, injected: real threads, or seeded steps in simulation (D4).
 *
 * <p>Start reading at {@link io.turbidite.core.task.Tasks}. No other room starts a thread or parks
 * one.
 */
@NullMarked
package io.turbidite.core.task;

import org.jspecify.annotations.NullMarked;
