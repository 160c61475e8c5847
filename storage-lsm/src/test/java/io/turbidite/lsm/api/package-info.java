/** Tests of what the API refuses and promises to an embedder. */
@NullMarked
package io.turbidite.lsm.api;

import org.jspecify.annotations.NullMarked;
