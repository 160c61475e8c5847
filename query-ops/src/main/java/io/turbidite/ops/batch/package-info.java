/**
 * Column batches: what operators inside a stage hand on in place of rows, where both sides can.
 *
 * <p>Holds the batch and who makes and takes it. A batch is a run of records where the storage has
 * them, and which of them are selected; a field of all that are selected is read in one loop, when
 * it is asked for. Nothing is copied but numbers. Holds no operator: conditions narrow batches by
 * {@link io.turbidite.ops.expr.RecordPredicate#narrow}, and what is done with the rows is that of
 * the operators, which take rows too: at any place of a stream rows may come instead. Invariant: a
 * query has the same answer by batches and by rows. Start reading at {@link
 * io.turbidite.ops.batch.ColumnBatch}.
 */
@NullMarked
package io.turbidite.ops.batch;

import org.jspecify.annotations.NullMarked;
