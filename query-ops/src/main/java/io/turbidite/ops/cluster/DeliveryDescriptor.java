package io.turbidite.ops.cluster;

import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.IOperatorNodePushable;
import org.apache.hyracks.api.dataflow.value.IRecordDescriptorProvider;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.job.JobSpecification;
import org.apache.hyracks.dataflow.std.base.AbstractSingleActivityOperatorDescriptor;

/** Hands the rows of a result to their reader, in the process of the controller. */
final class DeliveryDescriptor extends AbstractSingleActivityOperatorDescriptor {
    private static final long serialVersionUID = 1L;

    private final String job;

    /**
     * @param name of the job, by which its reader is known
     */
    DeliveryDescriptor(JobSpecification specification, String name) {
        super(specification, 1, 0);
        this.job = name;
        setDisplayName("delivery");
    }

    @Override
    public IOperatorNodePushable createPushRuntime(
            IHyracksTaskContext context,
            IRecordDescriptorProvider types,
            int instance,
            int instanceCount)
            throws HyracksDataException {
        HostedNode node = HostedNode.of(context.getJobletContext());
        try {
            Delivery delivery = node.delivery(job);
            if (delivery == null) {
                throw new IllegalStateException("the reader of %s has gone".formatted(job));
            }
            return delivery.task(InputEnds.of(context));
        } catch (RuntimeException | Error e) {
            // an Error would end the thread by which the engine gives work to its node
            throw Failures.toEngine(Senders.where(node.name(), "delivery"), e);
        }
    }
}
