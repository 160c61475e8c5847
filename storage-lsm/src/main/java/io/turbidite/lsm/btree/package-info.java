/**
 * How a sorted run of entries lies in pages, and how it is searched.
 *
 * <p>A tree has two levels: leaf pages on disk ({@code LeafLayout}, written by {@code LeafBuilder}, read
 * through the flyweight {@code Leaf}), and one flat array of fences that stays in memory ({@code
 * Fences}). A page is cut into groups of neighbours that share a key prefix ({@code GroupLayout}, {@code
 * Group}). Fences and groups keep the first key bytes behind such a prefix in a column of their own and are
 * searched by {@code Heads}. Holds no files and no checksums: pages come from a {@code LeafPages}.
 * Invariant: entries are in the strict order (key ascending, timestamp descending), and an entry's
 * ordinal is its place in that order. Start reading at {@code Tree}.
 */
@NullMarked
package io.turbidite.lsm.btree;

import org.jspecify.annotations.NullMarked;
