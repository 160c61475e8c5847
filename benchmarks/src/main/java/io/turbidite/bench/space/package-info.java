/**
 * How much disk a store takes for real data, and where the bytes are. Start reading at {@link
 * io.turbidite.bench.space.SpaceSuite}.
 */
@NullMarked
package io.turbidite.bench.space;

import org.jspecify.annotations.NullMarked;
