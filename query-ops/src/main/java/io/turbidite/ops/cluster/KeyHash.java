package io.turbidite.ops.cluster;

import org.apache.hyracks.api.comm.IFrameTupleAccessor;
import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.value.ITuplePartitionComputer;
import org.apache.hyracks.api.dataflow.value.ITuplePartitionComputerFactory;

/**
 * Sends a tuple to the partition of its key's hash, which is its first field: the sender has made
 * it, so that keys need not travel. The same partition as {@code ExchangeWriter} takes.
 */
final class KeyHash implements ITuplePartitionComputerFactory {
    private static final long serialVersionUID = 1L;

    @Override
    public ITuplePartitionComputer createPartitioner(IHyracksTaskContext context) {
        return KeyHash::partition;
    }

    private static int partition(IFrameTupleAccessor tuples, int tuple, int partitionCount) {
        int at = tuples.getAbsoluteFieldStartOffset(tuple, 0);
        return Integer.remainderUnsigned(Ints.get(tuples.getBuffer().array(), at), partitionCount);
    }
}
