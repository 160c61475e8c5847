/**
 * The cost of the calls of the public API, cold and warm. Start reading at {@link
 * io.turbidite.bench.api.ApiSuite}.
 */
@NullMarked
package io.turbidite.bench.api;

import org.jspecify.annotations.NullMarked;
