/**
 * The PS-Tree (PERS24 §4.2): secondary keys in order, each with its list of primary keys.
 *
 * <p>{@link io.turbidite.pm.tree.PsTree} is the tree. Its leaves are nodes in the region; {@link
 * io.turbidite.pm.tree.LeafRoutes}, the inner nodes, are on the heap and built again at opening
 * (FPTree's selective persistence). {@link io.turbidite.pm.tree.LeafWriter} brings a sorted run of
 * entries into one leaf, and {@link io.turbidite.pm.tree.TreeCursor} walks keys in either
 * direction. Invariants: a leaf's shared pages have no other leaf's keys; leaves are in key order.
 * Start reading at {@code PsTree}.
 */
@NullMarked
package io.turbidite.pm.tree;

import org.jspecify.annotations.NullMarked;
