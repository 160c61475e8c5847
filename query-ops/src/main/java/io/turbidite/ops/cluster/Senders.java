package io.turbidite.ops.cluster;

import java.io.Serializable;

/**
 * Who sends the rows of an input: the stage, and the node of each of its instances. Travels with
 * jobs. <em>Immutable.</em>
 */
final class Senders implements Serializable {
    private static final long serialVersionUID = 1L;

    private final String stage;
    private final String[] nodes;

    Senders(HostPlan.Placed placed) {
        this(placed.stage().name(), placed.nodes().toArray(String[]::new));
    }

    Senders(String stage, String... nodes) {
        this.stage = stage;
        this.nodes = nodes.clone();
    }

    int count() {
        return nodes.length;
    }

    /** All that send, for messages: a stage. */
    String all() {
        return "stage '%s'".formatted(stage);
    }

    /** The node of an instance. */
    String node(int instance) {
        return nodes[instance];
    }

    /** An instance, for messages. */
    String where(int instance) {
        return where(nodes[instance], stage);
    }

    /** A task, for messages: its node and its stage. */
    static String where(String node, String stage) {
        return "node '%s', stage '%s'".formatted(node, stage);
    }
}
