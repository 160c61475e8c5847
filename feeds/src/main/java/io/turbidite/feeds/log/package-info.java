/**
 * Hash logs beside stores: what feeds and commands do with {@link io.turbidite.hashlog.HashLog}.
 *
 * <p>{@link io.turbidite.feeds.log.OpenLog} opens a log in a directory. {@link
 * io.turbidite.feeds.log.LogLoad} loads it from streams of newline-delimited records by several
 * threads. {@link io.turbidite.feeds.log.FieldRows} gives fields of its records as JSON. {@link
 * io.turbidite.feeds.log.LogMigration} moves a subset into a dataset. {@link
 * io.turbidite.feeds.log.LogJoin} joins a log with a dataset. Knows logs and datasets, but no
 * commands and definitions. Start reading at {@code OpenLog}.
 */
@NullMarked
package io.turbidite.feeds.log;

import org.jspecify.annotations.NullMarked;
