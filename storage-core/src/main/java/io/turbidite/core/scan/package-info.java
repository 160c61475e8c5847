/**
 * What a source of records promises to its readers (the operators): a description, and views of one
 * moment with cursors over records and index entries.
 *
 * <p>Stores implement it, {@code query-ops} reads it, neither sees the other. Keys travel encoded (D1).
 * Start reading at {@link io.turbidite.core.scan.Source}.
 */
@NullMarked
package io.turbidite.core.scan;

import org.jspecify.annotations.NullMarked;
