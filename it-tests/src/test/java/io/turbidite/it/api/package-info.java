/** Calls of the public API that no other test makes, in a store of the real file system. */
@NullMarked
package io.turbidite.it.api;

import org.jspecify.annotations.NullMarked;
