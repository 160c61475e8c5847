package io.turbidite.feeds.cluster.agree;

/** Takes messages to others. It may lose them, and never calls back. */
@FunctionalInterface
public interface Mail {
    /** The controller's name. No node can have it. */
    String CONTROLLER = "controller";

    /**
     * Sends a message.
     *
     * @param to a node, or {@link #CONTROLLER}
     */
    void send(String to, Message message);
}
