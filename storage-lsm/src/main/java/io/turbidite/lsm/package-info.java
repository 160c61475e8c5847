/** To be described by its room. */
@NullMarked
package io.turbidite.lsm;

import org.jspecify.annotations.NullMarked;
