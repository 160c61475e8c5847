/**
 * From keys to records (index-to-index navigation, LUO19 §3.2): many sorted keys are looked up in the layers
 * of one version of a partition, a batch at a time and layer by layer.
 *
 * <p>Knows layers and trees, not partitions: whoever calls pins the version. Invariant: what comes out is the
 * newest version at or below the snapshot (or, where asked for, the version of exactly one timestamp), whichever
 * of the ways to get there is switched off. Start reading at {@link io.turbidite.lsm.lookup.KeyLookup}.
 */
@NullMarked
package io.turbidite.lsm.lookup;

import org.jspecify.annotations.NullMarked;
