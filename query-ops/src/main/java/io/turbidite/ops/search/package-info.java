/**
 * Access paths by a secondary index: searching for candidates, and answering from entries alone.
 *
 * <p>Holds the search of B+-tree indexes. A search finds primary keys; {@code ops.fetch} gets the
 * records. Invariant: an index has one current entry for each record, null and missing fields
 * included. Start reading at {@link io.turbidite.ops.search.CandidateSearch}.
 */
@NullMarked
package io.turbidite.ops.search;

import org.jspecify.annotations.NullMarked;
