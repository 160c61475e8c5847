/** To be described by its room. */
@NullMarked
package io.turbidite.it;

import org.jspecify.annotations.NullMarked;
