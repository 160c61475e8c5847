/**
 * The subcommands of {@code log}: they fill, query, join and salvage hash logs, and move them into
 * a store. Start reading at {@link LogCommand}.
 */
@NullMarked
package io.turbidite.feeds.command.log;

import org.jspecify.annotations.NullMarked;
