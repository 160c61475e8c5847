/** Stores that share a runtime. */
@NullMarked
package io.turbidite.lsm.runtime;

import org.jspecify.annotations.NullMarked;
