/** Described with its first operators. */
@NullMarked
package io.turbidite.ops.search;

import org.jspecify.annotations.NullMarked;
