package io.turbidite.ops.job;

import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

/**
 * Runs the stages of jobs elsewhere than on the workers of this process: on the nodes of a cluster.
 * {@link io.turbidite.ops.JobQuery#on} takes one. <em>Thread-safe.</em>
 */
@FunctionalInterface
public interface JobHost {
    /**
     * Starts a job, and gives the rows of its result as they come; closing them ends it.
     *
     * @param options of them, who may stop the job; what its operators may use is the host's to say
     * @throws io.turbidite.core.InvalidRequestException if the job can't run there
     */
    Rows run(JobGraph graph, RunOptions options);
}
