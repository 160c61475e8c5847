/**
 * From secondary to primary: batches of candidate keys, sorted, fetched and re-checked.
 *
 * <p>Holds {@link io.turbidite.ops.fetch.FetchedRecords}, to start reading at. Invariant: a record comes out
 * at most once, and only if it matches as it is, whatever the index said of it.
 */
@NullMarked
package io.turbidite.ops.fetch;

import org.jspecify.annotations.NullMarked;
