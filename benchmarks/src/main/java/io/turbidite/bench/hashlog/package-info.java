/**
 * Experiments with the hash log: how fast records are parsed, ingested and found again (FISH19 §8).
 */
@NullMarked
package io.turbidite.bench.hashlog;

import org.jspecify.annotations.NullMarked;
