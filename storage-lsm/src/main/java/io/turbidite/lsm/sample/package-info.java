/**
 * Samples of records: what plans estimate by (ops.plan).
 *
 * <p>Invariants: a component's sample has every key whose hash lies below the sample's bound, each
 * with its newest version in there, and no other. So samples of components can be laid over one
 * another as components are: the newest version of a key decides. A sample decides no answer: where
 * it is missing or damaged, estimates are worse and nothing else is.
 */
@NullMarked
package io.turbidite.lsm.sample;

import org.jspecify.annotations.NullMarked;
