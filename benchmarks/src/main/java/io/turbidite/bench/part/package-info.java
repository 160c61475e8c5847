/**
 * Parts by JMH, each operation alone: {@code ./turbidite bench jmh REGEX}. For profilers, and to
 * see which part a change has moved; the suites measure whole engines.
 *
 * <p>Start reading at {@link io.turbidite.bench.part.CodecBenchmark}.
 */
@NullMarked
package io.turbidite.bench.part;

import org.jspecify.annotations.NullMarked;
