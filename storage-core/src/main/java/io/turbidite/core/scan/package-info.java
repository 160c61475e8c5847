/**
 * The promises of a source of records to its readers, the operators: a description, and views of
 * one moment with cursors over records and index entries.
 *
 * <p>Stores implement this room, {@code query-ops} reads it, and neither sees the other. Keys
 * travel encoded (D1). Start reading at {@link io.turbidite.core.scan.Source}.
 */
@NullMarked
package io.turbidite.core.scan;

import org.jspecify.annotations.NullMarked;
