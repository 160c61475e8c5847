/**
 * What SQL asks of a store that it does not see: which datasets there are, all of them at one
 * moment, changes, and definitions.
 *
 * <p>Stores provide it, {@code query-ops} uses it, and neither sees the other. Records and keys
 * travel encoded, definitions in the words of feed definitions, so a store that another process
 * holds can stand behind it. Start reading at {@link io.turbidite.core.catalog.Catalog}.
 */
@NullMarked
package io.turbidite.core.catalog;

import org.jspecify.annotations.NullMarked;
