/**
 * The command that serves stores, with their feeds, over HTTP. Wires {@link
 * io.turbidite.feeds.web} to stores that it opens and closes.
 */
@NullMarked
package io.turbidite.feeds.command.server;

import org.jspecify.annotations.NullMarked;
