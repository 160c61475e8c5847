package io.turbidite.ops.batch;

/** Takes batches of one kind of records. <em>Confined to one thread at a time.</em> */
@FunctionalInterface
public interface BatchTaker {
    /**
     * Takes the selected records, as if the tuple of each were given, in their order.
     *
     * @param batch of the caller, who fills it again
     * @return whether more are wanted; a caller that goes on regardless does no harm
     */
    boolean batch(ColumnBatch batch);
}
