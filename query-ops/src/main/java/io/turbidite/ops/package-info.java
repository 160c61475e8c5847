/** To be described by its room. */
@NullMarked
package io.turbidite.ops;

import org.jspecify.annotations.NullMarked;
