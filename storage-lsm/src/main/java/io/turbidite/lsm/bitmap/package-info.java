/**
 * Which entries of a component are dead: bitmaps by ordinal, 1 = dead (LUO19 §4.4). Here are the immutable
 * ones that repair makes, their file, and the cursor that passes dead entries over.
 *
 * <p>Invariant: an entry is marked only when nobody can read it any more, so a bitmap never changes an
 * answer. Start reading at {@link io.turbidite.lsm.bitmap.DeadEntries}.
 *
 * <p>Those of a primary under the mutable-bitmap strategy change while writers go on, and know when each entry
 * died: {@link io.turbidite.lsm.bitmap.LiveBitmap}.
 */
@NullMarked
package io.turbidite.lsm.bitmap;

import org.jspecify.annotations.NullMarked;
