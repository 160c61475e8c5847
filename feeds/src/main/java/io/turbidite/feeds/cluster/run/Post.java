package io.turbidite.feeds.cluster.run;

/**
 * Takes messages to other processes of the cluster. It may lose them, and hands them over late,
 * twice and in any order; it does not wait for whoever reads them. <em>Thread-safe.</em>
 */
@FunctionalInterface
public interface Post {
    /**
     * Sends a message.
     *
     * @param to a node, or {@link io.turbidite.feeds.cluster.agree.Mail#CONTROLLER}
     */
    void send(String to, byte[] message);
}
