/** To be described by its room. */
@NullMarked
package io.turbidite.feeds;

import org.jspecify.annotations.NullMarked;
