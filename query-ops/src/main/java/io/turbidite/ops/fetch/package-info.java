/**
 * From secondary to primary: sorts batches of candidate keys, fetches their records and checks
 * these again.
 *
 * <p>Start reading at {@link io.turbidite.ops.fetch.FetchedRecords}. Invariant: a record comes out
 * at most once, and only if it matches now, whatever the index said of it.
 */
@NullMarked
package io.turbidite.ops.fetch;

import org.jspecify.annotations.NullMarked;
