/**
 * The public API: the store and its datasets, the objects that an application holds.
 *
 * <p>This package holds nothing else. Each type wraps an object of {@code lsm.engine}, {@code
 * lsm.dataset} or {@code lsm.write}, or is a value. The rooms below never see this package.
 * Invariant: when a call has returned, its result is visible to every reader, and as durable as the
 * store's mode says. Start reading at {@link io.turbidite.lsm.Store}, and below it at {@code
 * lsm.engine.StoreEngine}.
 */
@NullMarked
package io.turbidite.lsm;

import org.jspecify.annotations.NullMarked;
