/**
 * Merging layers: many ordered streams into one, which versions of a key must be kept, and the policies
 * that choose what to merge.
 *
 * <p>Holds no files and no threads: streams in, stream out; sizes in, range out. Invariant: no version
 * that a registered snapshot or a reader at the watermark can see is ever dropped (D3). Start reading at
 * {@code MergeCursor}, then {@code VersionRetention}.
 */
@NullMarked
package io.turbidite.lsm.merge;

import org.jspecify.annotations.NullMarked;
