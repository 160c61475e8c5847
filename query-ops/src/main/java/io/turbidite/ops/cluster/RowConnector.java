package io.turbidite.ops.cluster;

import org.apache.hyracks.api.comm.IPartitionCollector;
import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.value.ITuplePartitionComputerFactory;
import org.apache.hyracks.api.dataflow.value.RecordDescriptor;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.job.JobSpecification;
import org.apache.hyracks.dataflow.std.connectors.MToNPartitioningConnectorDescriptor;

/** Takes each row to one instance, and a failure of a sender to all ({@link Arrivals}). */
final class RowConnector extends MToNPartitioningConnectorDescriptor {
    private static final long serialVersionUID = 1L;

    private final Senders senders;

    /**
     * @param receivers says which instance a row goes to
     */
    RowConnector(JobSpecification job, ITuplePartitionComputerFactory receivers, Senders senders) {
        super(job, receivers);
        this.senders = senders;
    }

    @Override
    public IPartitionCollector createPartitionCollector(
            IHyracksTaskContext context,
            RecordDescriptor type,
            int receiver,
            int senderCount,
            int receiverCount)
            throws HyracksDataException {
        return StageCollector.of(context, getConnectorId(), receiver, senders);
    }
}
