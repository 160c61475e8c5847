/**
 * The disk component: one immutable file that holds a sorted run of entries, written in one pass
 * and read through the buffer cache.
 *
 * <p>Holds the file's format (header, blocks, Bloom filter, table of contents, footer), its writer,
 * its reader and its verifier, and the component filter. {@code lsm.btree} lays entries out in
 * pages and searches them. {@code lsm.version} knows which components there are, and when one may
 * be deleted. Invariant: a file with a sound footer never changes again. Start reading at {@code
 * DiskComponent}.
 */
@NullMarked
package io.turbidite.lsm.component;

import org.jspecify.annotations.NullMarked;
