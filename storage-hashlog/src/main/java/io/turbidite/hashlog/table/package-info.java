/**
 * The entry point of the subset hash index (FISH19 §4.2, the table of FASTER): from the hash of a
 * property to the newest key pointer of its chain.
 *
 * <p>Holds {@link io.turbidite.hashlog.table.HashTable}: cache-line buckets off the heap with
 * tags, slots that fill in their order, and growth while writers go on. Knows addresses and
 * hashes, but no records, properties and log. Invariant: a property has at most one entry; an
 * entry's address only grows; if a reader misses an entry, it was not there when the reader
 * looked. Start reading at {@code Buckets}.
 */
@NullMarked
package io.turbidite.hashlog.table;

import org.jspecify.annotations.NullMarked;
