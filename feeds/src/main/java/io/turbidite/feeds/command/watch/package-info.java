/**
 * The commands that watch a store at work: its figures ({@code stats}), its events
 * ({@code tail}) and what gives cause to worry ({@code doctor}). Changes nothing. Start at
 * {@link io.turbidite.feeds.command.watch.TailCommand}.
 */
@NullMarked
package io.turbidite.feeds.command.watch;

import org.jspecify.annotations.NullMarked;
