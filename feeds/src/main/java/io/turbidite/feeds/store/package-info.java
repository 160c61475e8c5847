/**
 * Where a feed's batches end: in the dataset, with the position behind them, as one atomic batch of the
 * store; and in the dead-letter file.
 *
 * <p>Invariant: a position says exactly what of its file is in the dataset or among the dead letters,
 * whenever the process dies. Start reading at {@link io.turbidite.feeds.store.Delivery}.
 */
@NullMarked
package io.turbidite.feeds.store;

import org.jspecify.annotations.NullMarked;
