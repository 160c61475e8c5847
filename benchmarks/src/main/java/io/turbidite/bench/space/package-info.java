/**
 * The disk space of a store with real data, and what takes it. Start reading at {@link
 * io.turbidite.bench.space.SpaceSuite}.
 */
@NullMarked
package io.turbidite.bench.space;

import org.jspecify.annotations.NullMarked;
