/**
 * What several indexes have in common, before a record is read.
 *
 * <p>Each index gives candidates; those that all of them have are fetched, or counted where the
 * entries say enough. Invariant: a primary key comes out once, in the order of primary keys; with
 * it come all versions of its record that each index may mean. Start reading at {@link
 * io.turbidite.ops.intersect.Intersection}.
 */
@NullMarked
package io.turbidite.ops.intersect;

import org.jspecify.annotations.NullMarked;
