package io.turbidite.ops.cluster;

/** Says which nodes there are, and what they hold; asked for each job. <em>Thread-safe.</em> */
@FunctionalInterface
public interface Placements {
    /** As it is now. */
    Placement now();

    /**
     * As it is now, for a job that a node has refused since it was made for another state: it may
     * wait until the nodes have that of now.
     */
    default Placement anew() {
        return now();
    }
}
