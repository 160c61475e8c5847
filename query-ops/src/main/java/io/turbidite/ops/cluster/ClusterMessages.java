package io.turbidite.ops.cluster;

/**
 * Who takes the messages that processes of a cluster send one another beside jobs: the controller
 * those of nodes, a node those of the controller. Messages may be lost, and come late; of one
 * sender they come in their order, but for those that are lost.
 *
 * <p><em>Thread-safe.</em> Threads of the engine call it, and wait until it returns: hand over what
 * takes longer.
 */
public interface ClusterMessages {
    /** Most bytes of one message: with its head the engine hands it over in one piece. */
    int BYTES_MAX = (1 << 20) - (4 << 10);

    /**
     * A message has come.
     *
     * @param sender as its certificate says: a node, or {@link ClusterIdentity#CONTROLLER}
     * @param message at most {@link #BYTES_MAX}; the receiver's from now on
     */
    void arrived(String sender, byte[] message);

    /** A node has left, or was silent for too long. Told to the controller alone. */
    default void left(String node) {
        // who asks nodes for nothing needs not know
    }

    /** Takes none. */
    static ClusterMessages none() {
        return (_, _) -> {
            // nobody here has asked for it
        };
    }
}
