/**
 * The subcommands of {@code log}: hash logs are filled, asked, joined, moved into a store, and salvaged. Start
 * reading at {@link LogCommand}.
 */
@NullMarked
package io.turbidite.feeds.command.log;

import org.jspecify.annotations.NullMarked;
