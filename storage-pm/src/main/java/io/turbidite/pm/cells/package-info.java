/**
 * Nodes: pages of up to 40 short entries, each a word and a key of at most 1,024 bytes. The leaves
 * of the secondary-key layer and the buckets of the table of versions are nodes.
 *
 * <p>{@link io.turbidite.pm.cells.Node} is the format and what a reader does, {@link
 * io.turbidite.pm.cells.NodeImage} is a writer's copy of one, {@link
 * io.turbidite.pm.cells.NodeBuilder} makes new ones, {@link io.turbidite.pm.cells.Staged} keeps the
 * stores that publish them back, and {@link io.turbidite.pm.cells.KeyList} keys that are noted for
 * later. After FPTree (Oukid and others, SIGMOD 2016): unsorted
 * entries, one word that says which count, a fingerprint of each key. Invariant: an entry is
 * changed by one store of a word, and a node is replaced by one store of its predecessor's link. It
 * knows neither order nor meaning of the entries. Start reading at {@code Node}.
 */
@NullMarked
package io.turbidite.pm.cells;

import org.jspecify.annotations.NullMarked;
