package io.turbidite.feeds.cluster;

/**
 * A write to the nodes of a cluster that not all of them have done. It says for each node: applied,
 * not applied, or not known. What is for one node is done as a whole, or not at all.
 */
public final class ClusterWriteException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A failure.
     *
     * @param message with what became of it on each node
     */
    public ClusterWriteException(String message) {
        super(message);
    }
}
