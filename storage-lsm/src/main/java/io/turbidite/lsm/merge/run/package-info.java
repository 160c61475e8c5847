/**
 * Merges that run: what to merge next, the steps of one merge, and its output. Policies and cursors are in {@link
 * io.turbidite.lsm.merge}; what maintenance strategies add comes in through {@link MergeHooks}.
 *
 * <p>Invariant: a component is an input of one merge at a time, and leaves with the edit that installs the output.
 * Start reading at {@link MergeWork}, then {@code MergePlanner}, {@code MergePlan} and {@code Merge}.
 */
@NullMarked
package io.turbidite.lsm.merge.run;

import org.jspecify.annotations.NullMarked;
