/**
 * What the calls of the public API cost, cold and warm. Start reading at {@link io.turbidite.bench.api.ApiSuite}.
 */
@NullMarked
package io.turbidite.bench.api;

import org.jspecify.annotations.NullMarked;
