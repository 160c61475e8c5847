/**
 * An index in a region: tree and tables together, as a store feeds and asks them.
 *
 * <p>{@link io.turbidite.pm.index.PmIndex} absorbs layers and takes cut absorptions back, {@link
 * io.turbidite.pm.index.PmSearch} finds the valid entries of a secondary key, newest first.
 * Invariants: the versions of a layer are durable before its entries are linked; only the writer
 * writes, and what readers find stale comes to it as hints. It knows no store: who calls it brings
 * the layers, and decides what the index can't. Start reading at {@code PmIndex}.
 */
@NullMarked
package io.turbidite.pm.index;

import org.jspecify.annotations.NullMarked;
