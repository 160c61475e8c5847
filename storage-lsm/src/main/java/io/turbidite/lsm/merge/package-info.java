/**
 * Merging layers: many ordered streams become one. Holds the rules for which versions of a key must
 * stay, and the policies that choose what to merge.
 *
 * <p>Holds no files and no threads: streams in, stream out; sizes in, range out. Invariant: no
 * merge drops a version that a registered snapshot or a reader at the watermark can see (D3). Start
 * reading at {@code MergeCursor}, then {@code VersionRetention}.
 */
@NullMarked
package io.turbidite.lsm.merge;

import org.jspecify.annotations.NullMarked;
