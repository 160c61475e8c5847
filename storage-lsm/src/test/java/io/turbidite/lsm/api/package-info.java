/** Tests of what the API refuses and promises. */
@NullMarked
package io.turbidite.lsm.api;

import org.jspecify.annotations.NullMarked;
