/**
 * The time of one upsert under sustained load, with default settings, while large merges run: not
 * the mean but the slowest thousandth, and the longest stall.
 *
 * <p>Times count from when an upsert was due, not from when a busy thread came to it, so a stall
 * counts for every upsert that it delayed (coordinated omission). Start reading at {@link
 * io.turbidite.bench.latency.LatencySuite}.
 */
@NullMarked
package io.turbidite.bench.latency;

import org.jspecify.annotations.NullMarked;
