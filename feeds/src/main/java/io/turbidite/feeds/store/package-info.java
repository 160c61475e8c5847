/**
 * The end of a feed's way: each batch goes into the dataset, with the position behind it, as one
 * atomic batch of the store; refused records go into the dead-letter file.
 *
 * <p>Invariant: whenever the process dies, a position says exactly which part of its file is in the
 * dataset or among the dead letters. Start reading at {@link io.turbidite.feeds.store.Delivery}.
 */
@NullMarked
package io.turbidite.feeds.store;

import org.jspecify.annotations.NullMarked;
