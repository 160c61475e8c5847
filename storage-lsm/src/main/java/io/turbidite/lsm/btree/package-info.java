/**
 * The pages of a sorted run of entries, and the search in them.
 *
 * <p>A tree has two levels: leaf pages on disk ({@code LeafLayout}, written by {@code LeafBuilder},
 * read through the flyweight {@code Leaf}), and one flat array of fences that stays in memory
 * ({@code Fences}). A page is cut into groups of neighbours that share a key prefix ({@code
 * GroupLayout}, {@code Group}). Fences and groups keep the first key bytes after such a prefix in a
 * column of their own, and {@code Heads} searches this column. Holds no files and no checksums:
 * pages come from a {@code LeafPages}. Invariant: entries are in the strict order (key ascending,
 * timestamp descending), and an entry's ordinal is its place in that order. Start reading at {@code
 * Tree}.
 */
@NullMarked
package io.turbidite.lsm.btree;

import org.jspecify.annotations.NullMarked;
