/**
 * Feeds: a definition names a source, a parser and a dataset; {@link io.turbidite.feeds.Feed}
 * carries every record of the source into the dataset, exactly once. A {@link
 * io.turbidite.feeds.LogFeed} does so into a hash log.
 *
 * <p>A record goes through these rooms. {@code source} hands out bytes with their positions. {@code
 * parse} cuts them into records and converts each into the encoded form of the dataset's type, or
 * into a dead letter. {@code flow} carries batches of records over a bounded ring. {@code store}
 * writes each batch, and keeps the position behind it in step. This package wires the rooms and
 * holds the types that users touch.
 *
 * <p>Invariant: this package knows the rooms, and they know nothing of it. Start reading at {@code
 * Feed}, then {@code FeedDefinition}.
 */
@NullMarked
package io.turbidite.feeds;

import org.jspecify.annotations.NullMarked;
