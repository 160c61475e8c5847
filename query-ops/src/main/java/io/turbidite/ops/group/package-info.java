/** Described with its first operators. */
@NullMarked
package io.turbidite.ops.group;

import org.jspecify.annotations.NullMarked;
