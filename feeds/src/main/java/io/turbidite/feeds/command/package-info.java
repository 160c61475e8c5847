/**
 * The command {@code ./turbidite}. Each subcommand is one class, thin over the store, the operators
 * and the feeds. Each group of subcommands has a room, and {@link
 * io.turbidite.feeds.command.common} has what they share.
 *
 * <p>Answers go to standard output, everything else to standard error. An error is one or two lines
 * that say what, where and what to do. Its exit code is 2 if the caller can mend it in the
 * arguments or in the feed definition, else 1. Commands that read create nothing: a missing store
 * stays missing.
 *
 * <p>Start reading at {@link io.turbidite.feeds.command.Main}.
 */
@NullMarked
package io.turbidite.feeds.command;

import org.jspecify.annotations.NullMarked;
