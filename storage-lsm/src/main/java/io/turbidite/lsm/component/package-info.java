/**
 * The disk component: one immutable file that holds a sorted run of entries, written in one pass and
 * read through the buffer cache.
 *
 * <p>Holds the file's format (header, blocks, Bloom filter, table of contents, footer), its writer, its
 * reader and its verifier, and the component filter. How entries lie in pages and how they are searched
 * is the business of {@code lsm.btree}; which components there are, and when one may be deleted, of
 * {@code lsm.version}. Invariant: a file that has a sound footer never changes again. Start reading at
 * {@code DiskComponent}.
 */
@NullMarked
package io.turbidite.lsm.component;

import org.jspecify.annotations.NullMarked;
