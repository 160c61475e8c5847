/**
 * The commands that watch a store at work: its figures ({@code stats}) and its events
 * ({@code tail}). Changes nothing. Start at {@link io.turbidite.feeds.command.watch.TailCommand}.
 */
@NullMarked
package io.turbidite.feeds.command.watch;

import org.jspecify.annotations.NullMarked;
