/**
 * The commands that carry whole datasets between a store and files: {@code export} and
 * {@code import}. Knows stores, queries and feeds; holds no state of its own. Start at
 * {@link io.turbidite.feeds.command.copy.ExportCommand}.
 */
@NullMarked
package io.turbidite.feeds.command.copy;

import org.jspecify.annotations.NullMarked;
