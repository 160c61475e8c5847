/** To be described by its room. */
@NullMarked
package io.turbidite.hashlog;

import org.jspecify.annotations.NullMarked;
