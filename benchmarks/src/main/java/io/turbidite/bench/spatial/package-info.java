/**
 * Windows and neighbours by an R-tree in one component, in ten and in memory, beside JTS. Start
 * reading at {@link io.turbidite.bench.spatial.SpatialSuite}.
 */
@NullMarked
package io.turbidite.bench.spatial;

import org.jspecify.annotations.NullMarked;
