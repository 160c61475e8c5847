/**
 * Many feeds at once on one open store: each has a state, goes on by itself when what it failed of
 * may pass, and neither stops nor slows the others when it fails. Definitions are kept in the
 * store, and started only by who calls {@link io.turbidite.feeds.manage.FeedManager#startKept}.
 *
 * <p>Invariant: what a feed does next is decided by {@link io.turbidite.feeds.manage.FeedState} and
 * {@code BackOff}, which know no clock and no thread. Start reading there, then at {@link
 * io.turbidite.feeds.manage.FeedManager}.
 */
@NullMarked
package io.turbidite.feeds.manage;

import org.jspecify.annotations.NullMarked;
