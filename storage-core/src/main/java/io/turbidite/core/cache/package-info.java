/**
 * The buffer cache: pages of immutable files in a fixed amount of memory off the heap.
 *
 * <p>A file registers its pages and how to load one; readers pin a page, read its frame, unpin it.
 * Invariant: memory held never exceeds what the cache was created with, and a pinned frame's bytes don't
 * change. Files are immutable, so nothing is ever written back, and each file maps page number to frame
 * by an array: there is no hash table and no lock on the way of a hit. Start reading at {@link
 * io.turbidite.core.cache.BufferCache}, then {@code CachedFile}, {@code Frame}, {@code Slabs}.
 */
@NullMarked
package io.turbidite.core.cache;

import org.jspecify.annotations.NullMarked;
