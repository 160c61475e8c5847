/** Described with its first operators. */
@NullMarked
package io.turbidite.ops.scan;

import org.jspecify.annotations.NullMarked;
