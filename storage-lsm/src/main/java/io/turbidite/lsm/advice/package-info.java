/**
 * Says, of what was measured, what each maintenance strategy would cost an index, and why. Pure: numbers in,
 * numbers and sentences out; whoever asks has gathered the {@link io.turbidite.lsm.advice.Facts}.
 *
 * <p>Invariant: nothing is advised that a definition would refuse. Start reading at {@link
 * io.turbidite.lsm.advice.CostModel}.
 */
@NullMarked
package io.turbidite.lsm.advice;

import org.jspecify.annotations.NullMarked;
