/** Described with its first operators. */
@NullMarked
package io.turbidite.ops.sort;

import org.jspecify.annotations.NullMarked;
