/**
 * Stores with an index in byte-addressable memory, whose disk and memory are cut together.
 *
 * <p>Start reading at {@code RegionHistoryTest}.
 */
@NullMarked
package io.turbidite.it.pm;

import org.jspecify.annotations.NullMarked;
