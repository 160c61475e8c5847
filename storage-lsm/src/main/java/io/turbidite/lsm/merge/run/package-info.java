/**
 * Running merges: which merge comes next, the steps of one merge, and its output. {@link
 * io.turbidite.lsm.merge} has policies and cursors; maintenance strategies add their part through
 * {@link io.turbidite.lsm.partition.MergeHooks}.
 *
 * <p>Invariant: a component is an input of one merge at a time, and leaves with the edit that
 * installs the output. Start reading at {@link MergeWork}, then {@code MergePlanner}, {@code
 * MergePlan} and {@code Merge}.
 */
@NullMarked
package io.turbidite.lsm.merge.run;

import org.jspecify.annotations.NullMarked;
