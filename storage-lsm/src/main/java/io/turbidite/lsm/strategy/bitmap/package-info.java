/**
 * Mutable-bitmap (LUO19 §5): the writer of a record marks the old version in the bitmap of its
 * component. Here are the bitmaps, their file, and the cursors that read by them; what drives them
 * is in {@link io.turbidite.lsm.strategy.bitmap.run}. Validation's repair uses the immutable kind
 * ({@link ImmutableValidityBitmap}).
 *
 * <p><em>One upsert.</em> {@code OldPosition} looks the key up in the key trees: the old version is
 * in memory, at an ordinal of a component, or nowhere. The log record is written. Inside the gate
 * the writer asks whether a flush or a merge has moved the old version meanwhile; if so, it looks
 * again. Then it sets the bit ({@link MutableValidityBitmap}) and lists the time (design §4 rule
 * 5).
 *
 * <p><em>One query.</em> {@link VisibleCursor} shows of each component what is valid at the
 * reader's snapshot. No other component is asked, and filters prune freely.
 *
 * <p><em>One merge.</em> {@link MarkedCursor} reads all entries with the times of their successors.
 * A {@link BuildConcurrency} brings what writers mark meanwhile to the component that is being
 * built, by locks or by a side-file. {@code BitmapSwitch} finishes inside the closed gate; {@code
 * BitmapSave} puts the bitmaps to rest with the manifest's edit.
 *
 * <p>Invariants: a bit is set only when nobody at or above its time can read the entry. When {@link
 * BuildConcurrency#finish} has returned, an entry of the built component is invalid, with the same
 * time, exactly if it was marked where it lay.
 */
@NullMarked
package io.turbidite.lsm.strategy.bitmap;

import org.jspecify.annotations.NullMarked;
