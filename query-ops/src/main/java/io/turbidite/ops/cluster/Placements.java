package io.turbidite.ops.cluster;

/** Says which nodes there are, and what they hold; asked for each job. <em>Thread-safe.</em> */
@FunctionalInterface
public interface Placements {
    /** As it is now; it may wait for a while until the nodes have that of now. */
    Placement now();
}
