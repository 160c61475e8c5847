/** Described with its first operators. */
@NullMarked
package io.turbidite.ops.fetch;

import org.jspecify.annotations.NullMarked;
