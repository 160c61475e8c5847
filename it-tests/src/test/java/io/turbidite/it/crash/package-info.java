/** Stores in child processes that are killed: tests check what is left. */
@NullMarked
package io.turbidite.it.crash;

import org.jspecify.annotations.NullMarked;
