/**
 * Feeds: a definition names a source, a parser and a dataset; {@link io.turbidite.feeds.Feed} carries
 * every record of the one into the other, exactly once.
 *
 * <p>The way of a record: {@code source} hands out bytes with their positions, {@code parse} cuts them
 * into records and converts each into the encoded form of the dataset's type (or into a dead letter),
 * {@code flow} carries batches of them over a bounded ring, {@code store} writes each batch and the
 * position behind it atomically. This package wires them and holds what users touch.
 *
 * <p>Invariant: the rooms know nothing of this package; it knows them. Start reading at {@code Feed},
 * then {@code FeedDefinition}.
 */
@NullMarked
package io.turbidite.feeds;

import org.jspecify.annotations.NullMarked;
