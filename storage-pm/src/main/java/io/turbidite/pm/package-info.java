/**
 * The place for a secondary index in persistent memory (design §6). Holds nothing yet. The module
 * exists so that its direction is checked from the start: it sees storage-core alone.
 */
@NullMarked
package io.turbidite.pm;

import org.jspecify.annotations.NullMarked;
