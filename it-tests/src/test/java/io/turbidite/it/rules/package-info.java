/** Who may use whom, checked on the compiled classes. */
@NullMarked
package io.turbidite.it.rules;

import org.jspecify.annotations.NullMarked;
