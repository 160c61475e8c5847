/** What tests of the engine share: simulated stores, histories, the in-memory oracle, and what compares the two. */
@NullMarked
package io.turbidite.lsm.harness;

import org.jspecify.annotations.NullMarked;
