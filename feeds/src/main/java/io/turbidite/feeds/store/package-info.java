/**
 * The end of a feed's way: each batch goes into a dataset, with the position behind it, as one
 * atomic batch of the store; or into a hash log, with the position later ({@code LogTarget}).
 * Refused records go into the dead-letter file.
 *
 * <p>Invariant: whenever the process dies, the next run knows exactly which part of a file is there
 * or among the dead letters. Start reading at {@link io.turbidite.feeds.store.Delivery}.
 */
@NullMarked
package io.turbidite.feeds.store;

import org.jspecify.annotations.NullMarked;
