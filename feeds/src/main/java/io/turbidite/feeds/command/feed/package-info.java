/**
 * Running feeds: {@code run} and {@code quickstart}, with progress, a summary, and other processes served meanwhile.
 * Start reading at {@link FeedRunner}.
 */
@NullMarked
package io.turbidite.feeds.command.feed;

import org.jspecify.annotations.NullMarked;
