/**
 * The engine beside its peers: eager upserts with one secondary index, gets, scans, secondary
 * queries.
 *
 * <p>Start reading at {@link io.turbidite.bench.engine.EngineSuite}.
 */
@NullMarked
package io.turbidite.bench.engine;

import org.jspecify.annotations.NullMarked;
