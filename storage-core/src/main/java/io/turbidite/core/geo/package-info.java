/**
 * Points and rectangles as keys of an R-tree, and windows on them.
 *
 * <p>Holds the Hilbert curve ({@link io.turbidite.core.geo.Hilbert}), the grid that coordinates are
 * put on ({@code Grid}), the keys
 * ({@link io.turbidite.core.geo.SpatialKind}), boxes, the search for what of the curve a window
 * has ({@link io.turbidite.core.geo.WindowSearch}), and distances of the plane and of the sphere
 * ({@link io.turbidite.core.geo.Metric}) with what they reach ({@link
 * io.turbidite.core.geo.Circle}). Holds no index and no page.
 *
 * <p>Invariants: equal values have equal keys, a key gives its value back to the last bit, and no
 * key is a prefix of another. Keys are ordered along the curve: neighbours in the order are near
 * one another in the plane. Whether a key lies in a window is told by the key alone. Start reading
 * at {@code SpatialKind}.
 */
@NullMarked
package io.turbidite.core.geo;

import org.jspecify.annotations.NullMarked;
