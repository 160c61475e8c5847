package io.turbidite.ops.cluster;

import org.jspecify.annotations.Nullable;

/** Says on a node whether a job is for the cluster as the node knows it. <em>Thread-safe.</em> */
@FunctionalInterface
public interface JobCheck {
    /**
     * Checks a job, once on each node, before anything of it is done there.
     *
     * @param mark that the placement had for the node when the job was made; null: none
     * @throws io.turbidite.ops.job.StaleJobException if the job was made for another state of the
     *     cluster: the controller makes it anew, once
     */
    void check(@Nullable JobMark mark);

    /** Takes all: the cluster's nodes, schema and placement never change. */
    static JobCheck none() {
        return _ -> {
            // there is one state
        };
    }
}
