/** Clocks, injected: nothing else in the project asks the system what time it is (D4). */
@NullMarked
package io.turbidite.core.time;

import org.jspecify.annotations.NullMarked;
