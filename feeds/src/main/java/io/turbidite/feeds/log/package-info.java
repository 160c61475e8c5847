/**
 * Hash logs beside stores: what feeds and commands do with {@link io.turbidite.hashlog.HashLog}.
 *
 * <p>Holds opening a log in a directory ({@link io.turbidite.feeds.log.OpenLog}), loading it from streams of
 * newline-delimited records by several threads ({@link io.turbidite.feeds.log.LogLoad}), fields of its
 * records as JSON ({@link io.turbidite.feeds.log.FieldRows}), the way of a subset into a dataset ({@link
 * io.turbidite.feeds.log.LogMigration}), and joins with datasets ({@link io.turbidite.feeds.log.LogJoin}). Knows logs and datasets; nothing of commands and
 * definitions. Start reading at {@code OpenLog}.
 */
@NullMarked
package io.turbidite.feeds.log;

import org.jspecify.annotations.NullMarked;
