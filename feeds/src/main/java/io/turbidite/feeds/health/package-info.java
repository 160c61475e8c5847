/**
 * What of a store gives cause to worry: the server and {@code ./turbidite doctor} say the same.
 * Changes nothing. Start at {@link io.turbidite.feeds.health.Findings}, the table of rules.
 */
@NullMarked
package io.turbidite.feeds.health;

import org.jspecify.annotations.NullMarked;
