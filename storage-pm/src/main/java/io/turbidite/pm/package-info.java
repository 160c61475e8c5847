/** To be described by its room. */
@NullMarked
package io.turbidite.pm;

import org.jspecify.annotations.NullMarked;
