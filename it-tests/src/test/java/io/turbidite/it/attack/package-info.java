/** Attacks on the public API and the command alone, by models that share no code with them. */
@NullMarked
package io.turbidite.it.attack;

import org.jspecify.annotations.NullMarked;
