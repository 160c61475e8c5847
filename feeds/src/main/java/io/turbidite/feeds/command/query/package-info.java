/**
 * Asking a store: {@code query} and {@code get}. Start reading at {@link Question}, which makes a
 * query from arguments.
 */
@NullMarked
package io.turbidite.feeds.command.query;

import org.jspecify.annotations.NullMarked;
