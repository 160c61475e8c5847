/**
 * Running feeds: {@code run} and {@code quickstart}. They show progress and a summary, and serve
 * other processes meanwhile. Start reading at {@link FeedRunner}.
 */
@NullMarked
package io.turbidite.feeds.command.feed;

import org.jspecify.annotations.NullMarked;
