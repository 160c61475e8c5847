/**
 * What an index has of a record: its entry keys.
 *
 * <p>Holds {@link io.turbidite.core.index.EntryKeys}, one for each kind of index, which gives from
 * a record its 0 to n distinct entry keys and from an entry key the primary key; and the list that
 * they are put into. Holds also what a store asks of a kind that it does not know: {@link
 * io.turbidite.core.index.IndexKind} and its {@link io.turbidite.core.index.IndexRegion}. Holds no
 * tree and no search. Invariant: whoever asks for the keys of one
 * record gets the same keys, be it the writer, the verifier or a query that checks a candidate.
 * Start reading at {@code EntryKeys}.
 */
@NullMarked
package io.turbidite.core.index;

import org.jspecify.annotations.NullMarked;
