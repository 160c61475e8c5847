/**
 * A secondary index in byte-addressable memory (design §6, PERS24).
 *
 * <p>The rooms, from below: {@code region} (memory, header, pages), {@code cells} (nodes of short
 * entries, for tree and tables), {@code postings} (lists of primary keys, newest first), {@code
 * tree} (secondary keys to lists), {@code validate} (which entries are stale), {@code index} (both
 * as one). None of them knows the engine: the module sees storage-core alone.
 */
@NullMarked
package io.turbidite.pm;

import org.jspecify.annotations.NullMarked;
