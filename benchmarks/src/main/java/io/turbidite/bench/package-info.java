/** To be described by its room. */
@NullMarked
package io.turbidite.bench;

import org.jspecify.annotations.NullMarked;
