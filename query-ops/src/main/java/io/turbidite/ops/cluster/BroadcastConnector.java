package io.turbidite.ops.cluster;

import org.apache.hyracks.api.comm.IPartitionCollector;
import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.value.RecordDescriptor;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.job.JobSpecification;
import org.apache.hyracks.dataflow.std.connectors.MToNBroadcastConnectorDescriptor;

/** Takes each row to all instances, and a failure of a sender too ({@link Arrivals}). */
final class BroadcastConnector extends MToNBroadcastConnectorDescriptor {
    private static final long serialVersionUID = 1L;

    private final Senders senders;

    BroadcastConnector(JobSpecification job, Senders senders) {
        super(job);
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
