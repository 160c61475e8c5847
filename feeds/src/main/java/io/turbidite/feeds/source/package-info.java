/**
 * What a source of a feed must be: a {@link io.turbidite.feeds.source.SourceKind}, found by its
 * name, opens a {@link io.turbidite.feeds.source.FeedSource}; each of its partitions is read by a
 * {@link io.turbidite.feeds.source.PartitionReader}.
 *
 * <p>Invariant: a position means something to its source alone; the feed keeps it and compares it.
 * Start reading at {@code FeedSource}; {@code source.file} has files.
 */
@NullMarked
package io.turbidite.feeds.source;

import org.jspecify.annotations.NullMarked;
