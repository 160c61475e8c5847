package io.turbidite.feeds.cluster.run;

import io.turbidite.feeds.cluster.agree.Misfit;
import io.turbidite.feeds.cluster.agree.Stamp;
import io.turbidite.feeds.cluster.change.Epoch;
import io.turbidite.ops.cluster.JobCheck;
import io.turbidite.ops.cluster.JobMark;
import io.turbidite.ops.job.StaleJobException;

import org.jspecify.annotations.Nullable;

/**
 * A node takes the jobs that were made for the cluster as it knows it: by this controller, in its
 * life of now, for this registration and this number of the log of changes. <em>Immutable.</em>
 */
record JobStamps(String node, NodeRun changes) implements JobCheck {
    /** As a job carries it; null for a node that is away. */
    static @Nullable JobMark mark(@Nullable Stamp stamp) {
        return stamp == null
                ? null
                : new JobMark(
                        stamp.clusterId(),
                        stamp.epoch().number(),
                        stamp.epoch().process(),
                        stamp.registration(),
                        stamp.number());
    }

    private static Stamp stamp(JobMark mark) {
        return new Stamp(
                mark.clusterId(),
                new Epoch(mark.epoch(), mark.process()),
                mark.registration(),
                mark.number());
    }

    @Override
    public void check(@Nullable JobMark mark) {
        if (mark == null) {
            throw new StaleJobException(
                    "node '%s' refuses a job: the controller does not have it".formatted(node)
                            + " among those that have registered");
        }
        Misfit misfit = changes.misfit(stamp(mark));
        if (misfit != null) {
            throw new StaleJobException("node '%s' refuses a job of change %d, and has %d: %s"
                    .formatted(node, mark.number(), changes.number(), misfit.words()));
        }
    }
}
