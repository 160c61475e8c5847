/**
 * Which entries of an index are stale (PERS24 §4.3): a table in the region with each primary key's
 * newest timestamp and the number of its entries, and a table off it with the keys alone that have
 * stale entries.
 *
 * <p>{@link io.turbidite.pm.validate.Validation} is what readers and the writer use, {@link
 * io.turbidite.pm.validate.VersionTable} the table in the region, {@link
 * io.turbidite.pm.validate.StaleTable} the other one. Invariant: counters may be too high, never
 * too low; who is not in the complete table of stale keys has no stale entry that a reader can
 * meet. Start reading at {@code Validation}.
 */
@NullMarked
package io.turbidite.pm.validate;

import org.jspecify.annotations.NullMarked;
