/**
 * The place of the hash log (design §5): raw records at memory speed with subset hashing. Holds nothing
 * yet; the module is here so that its direction (it sees storage-core alone) is checked from the start.
 */
@NullMarked
package io.turbidite.hashlog;

import org.jspecify.annotations.NullMarked;
