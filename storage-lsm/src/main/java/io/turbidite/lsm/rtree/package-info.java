/**
 * What an R-tree has beside the sorted entries of any index: boxes, and the cursors that search a
 * window by them.
 *
 * <p>An R-tree is a packed Hilbert R-tree (Kamel and Faloutsos): entries sorted along the Hilbert
 * curve ({@code core.geo}) in the leaf pages of {@code lsm.btree}, and above them boxes ({@link
 * io.turbidite.lsm.rtree.Boxes}, laid out by {@code BoxesLayout}, made by {@code BoxesBuilder}). A
 * search goes down the boxes ({@link io.turbidite.lsm.rtree.WindowCursor}); in a memory component,
 * which has none, it skips along the curve ({@link io.turbidite.lsm.rtree.SkippingCursor}).
 * Neighbours come nearest first in the same two ways ({@link
 * io.turbidite.lsm.rtree.NearestByBoxes}, {@link io.turbidite.lsm.rtree.NearestByCurve}).
 *
 * <p>Holds no files and no layers. Invariant: a cursor shows exactly the entries whose key is in
 * the window, anti-matter too, in the order of keys; so layers are reconciled as those of any
 * index. Start reading at {@code Boxes}.
 */
@NullMarked
package io.turbidite.lsm.rtree;

import org.jspecify.annotations.NullMarked;
