/**
 * Says from measurements what each maintenance strategy would cost an index, and why; and where the
 * repair of an index under auto belongs. Pure: numbers in, numbers and sentences out. The caller
 * gathers the {@link Facts} or the {@link RepairEvidence}.
 *
 * <p>Invariant: it never advises what a definition would refuse. Start reading at {@link
 * CostModel}, or for repair at {@link RepairPlanner}.
 */
@NullMarked
package io.turbidite.lsm.strategy.advice;

import org.jspecify.annotations.NullMarked;
