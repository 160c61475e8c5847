package io.turbidite.ops.cluster;

import org.apache.hyracks.api.context.IHyracksJobletContext;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.job.IJobletEventListener;
import org.apache.hyracks.api.job.IJobletEventListenerFactory;
import org.apache.hyracks.api.job.JobParameterByteStore;
import org.apache.hyracks.api.job.JobStatus;

/** Has a node let go of what a job holds when its last task there has ended. */
final class JobletEnd implements IJobletEventListenerFactory {
    private static final long serialVersionUID = 1L;

    private static final System.Logger LOG = System.getLogger(JobletEnd.class.getName());

    @Override
    public IJobletEventListener createListener(IHyracksJobletContext context) {
        return new IJobletEventListener() {
            @Override
            public void jobletStart() {
                // views are opened by the first task that reads one
            }

            // Never throws: the engine would not tell the controller then that the node has done
            // with the job. Tasks have closed what they have read; the rest is of a failed job.
            @Override
            public void jobletFinish(JobStatus status) {
                try {
                    HostedNode.of(context).end(context.getJobId());
                } catch (HyracksDataException | RuntimeException | Error e) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "what %s has read is not closed".formatted(context.getJobId()),
                            e);
                }
            }
        };
    }

    @Override
    public IJobletEventListenerFactory copyFactory() {
        return this;
    }

    @Override
    public void updateListenerJobParameters(JobParameterByteStore parameters) {
        // it has none
    }
}
