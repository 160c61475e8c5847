/**
 * What records cost on their way through a feed, by its source, beside batches of ready records.
 * Start reading at {@link io.turbidite.bench.feed.FeedSuite}.
 */
@NullMarked
package io.turbidite.bench.feed;

import org.jspecify.annotations.NullMarked;
