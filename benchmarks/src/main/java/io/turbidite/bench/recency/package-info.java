/**
 * Queries for recent records, with and without a filter on time, under several merge policies
 * (ALS15 §4). Start reading at {@link io.turbidite.bench.recency.RecencySuite}.
 */
@NullMarked
package io.turbidite.bench.recency;

import org.jspecify.annotations.NullMarked;
