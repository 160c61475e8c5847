/** Stores in child processes that are killed, and what is left of them. */
@NullMarked
package io.turbidite.it.crash;

import org.jspecify.annotations.NullMarked;
