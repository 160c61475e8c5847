package io.turbidite.feeds.cluster;

import java.io.Serializable;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A write to the nodes of a cluster that not all of them have done. It says for each node: applied,
 * not applied, or not known. What is for one node is done as a whole, or not at all.
 */
public final class ClusterWriteException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // what List.copyOf makes can be written
    private final List<OnNode> nodes;

    /**
     * What became of the records for one node.
     *
     * @param records how many there were
     * @param why empty if they were applied
     */
    public record OnNode(String node, int records, Outcome outcome, String why)
            implements Serializable {
        @Override
        public String toString() {
            return "node '%s': %d %s %s%s"
                    .formatted(
                            node,
                            records,
                            records == 1 ? "record" : "records",
                            outcome.words,
                            why.isEmpty() ? "" : " (%s)".formatted(why));
        }
    }

    /** What became of records. */
    public enum Outcome {
        /** All of them are there, as durable as the store's mode says. */
        APPLIED("applied"),
        /** None is there. */
        NOT_APPLIED("not applied"),
        /** All are there, or none. */
        NOT_KNOWN("not known");

        private final String words;

        Outcome(String words) {
            this.words = words;
        }
    }

    /**
     * A failure.
     *
     * @param nodes all that the write was for
     */
    public ClusterWriteException(String dataset, List<OnNode> nodes) {
        super("dataset '%s': not all nodes have written: %s"
                .formatted(
                        dataset,
                        nodes.stream().map(OnNode::toString).collect(Collectors.joining("; "))));
        this.nodes = List.copyOf(nodes);
    }

    /** What became of the records for each node, by name. */
    public List<OnNode> nodes() {
        return nodes;
    }
}
