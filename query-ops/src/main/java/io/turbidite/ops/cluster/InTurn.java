package io.turbidite.ops.cluster;

import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.value.ITuplePartitionComputer;
import org.apache.hyracks.api.dataflow.value.ITuplePartitionComputerFactory;

/**
 * Sends tuples to each partition in turn, or all of a sender to one: that of its number. Senders do
 * not all begin with the same one.
 */
final class InTurn implements ITuplePartitionComputerFactory {
    private static final long serialVersionUID = 1L;

    private final boolean isTurning;

    /**
     * @param isTurning false: all tuples of a sender go to the partition of its number
     */
    InTurn(boolean isTurning) {
        this.isTurning = isTurning;
    }

    @Override
    public ITuplePartitionComputer createPartitioner(IHyracksTaskContext context) {
        int sender = context.getTaskAttemptId().getTaskId().getPartition();
        if (!isTurning) {
            return (_, _, partitionCount) -> sender % partitionCount;
        }
        int[] next = {sender};
        return (_, _, partitionCount) -> {
            int chosen = next[0] % partitionCount;
            next[0] = chosen + 1;
            return chosen;
        };
    }
}
