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

    @Override
    public IJobletEventListener createListener(IHyracksJobletContext context) {
        return new IJobletEventListener() {
            @Override
            public void jobletStart() {
                // views are opened by the first task that reads one
            }

            @Override
            public void jobletFinish(JobStatus status) {
                try {
                    HostedNode.of(context).end(context.getJobId());
                } catch (HyracksDataException e) {
                    throw new IllegalStateException(e);
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
