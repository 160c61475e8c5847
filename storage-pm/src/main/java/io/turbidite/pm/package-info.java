/**
 * The place of the secondary index for persistent memory (design §6). Holds nothing yet; the module is
 * here so that its direction (it sees storage-core alone) is checked from the start.
 */
@NullMarked
package io.turbidite.pm;

import org.jspecify.annotations.NullMarked;
