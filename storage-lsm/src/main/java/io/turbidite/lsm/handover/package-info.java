/**
 * How kills of entries reach the component that a flush or a merge is building from them (LUO19 §5.3): the two
 * methods, side by side. Not here: the bitmaps themselves ({@link io.turbidite.lsm.bitmap.LiveBitmap}), and when a
 * built component takes its sources' place.
 *
 * <p>Invariant: when {@link io.turbidite.lsm.handover.Handover#finish} has returned, an entry of the built component is
 * dead, with the same timestamp, exactly if it was killed where it lay before. Start reading at
 * {@link io.turbidite.lsm.handover.Handover}.
 */
@NullMarked
package io.turbidite.lsm.handover;

import org.jspecify.annotations.NullMarked;
