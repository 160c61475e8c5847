/** Described with its first operators. */
@NullMarked
package io.turbidite.ops.plan;

import org.jspecify.annotations.NullMarked;
