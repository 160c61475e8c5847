package io.turbidite.ops.cluster;

import org.apache.hyracks.api.comm.IPartitionCollector;
import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.value.IBinaryComparatorFactory;
import org.apache.hyracks.api.dataflow.value.RecordDescriptor;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.job.JobSpecification;
import org.apache.hyracks.dataflow.std.connectors.MToNPartitioningMergingConnectorDescriptor;

/** Merges the rows of all senders by their keys; a failure of a sender is one of the merge. */
final class MergingConnector extends MToNPartitioningMergingConnectorDescriptor {
    private static final long serialVersionUID = 1L;

    private final Senders senders;

    MergingConnector(JobSpecification job, Senders senders) {
        super(
                job,
                new InTurn(false),
                new int[] {0},
                new IBinaryComparatorFactory[] {new KeyOrder()},
                null);
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
        return StageCollector.of(
                context,
                getConnectorId(),
                receiver,
                senders,
                arrivals -> new MergedFrames(context, type, senders.count(), arrivals));
    }
}
