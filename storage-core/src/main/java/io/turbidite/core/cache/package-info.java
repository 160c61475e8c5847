/**
 * The buffer cache: pages of immutable files in a fixed amount of memory off the heap.
 *
 * <p>A file registers its pages and how to load one; readers pin a page, read its frame and unpin
 * it. Invariant: the cache never holds more memory than it was created with, and a pinned frame's
 * bytes don't change. Files are immutable, so the cache never writes anything back. Each file maps
 * page numbers to frames by an array, so a hit needs no hash table and no lock. Start reading at
 * {@link io.turbidite.core.cache.BufferCache}, then {@code CachedFile}, {@code PageFrame}, {@code
 * Slabs}.
 */
@NullMarked
package io.turbidite.core.cache;

import org.jspecify.annotations.NullMarked;
