/**
 * The command {@code ./turbidite}: one class a subcommand, thin over the store, the operators and the
 * feeds; one room a group of subcommands, and {@link io.turbidite.feeds.command.common} for what they share.
 *
 * <p>Answers go to standard output, all else to standard error. An error is one or two lines that say
 * what, where and what to do; its exit code is 2 if the caller can mend it in the arguments or in the
 * feed definition, else 1. The read commands create nothing: a store that isn't there stays so.
 *
 * <p>Start reading at {@link io.turbidite.feeds.command.Main}.
 */
@NullMarked
package io.turbidite.feeds.command;

import org.jspecify.annotations.NullMarked;
