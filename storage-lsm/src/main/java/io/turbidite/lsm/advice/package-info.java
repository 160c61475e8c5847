/**
 * Says, of what was measured, what each maintenance strategy would cost an index, and why; and where the repair
 * of an index under auto belongs. Pure: numbers in, numbers and sentences out; whoever asks has gathered the
 * {@link io.turbidite.lsm.advice.Facts} or the {@link io.turbidite.lsm.advice.RepairEvidence}.
 *
 * <p>Invariant: nothing is advised that a definition would refuse. Start reading at {@link
 * io.turbidite.lsm.advice.CostModel}, or for repair at {@link io.turbidite.lsm.advice.RepairPlanner}.
 */
@NullMarked
package io.turbidite.lsm.advice;

import org.jspecify.annotations.NullMarked;
