package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobOperator;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which nodes there are, and what they hold. <em>Immutable.</em>
 *
 * @param nodes of different names; without one no job can be run
 * @param datasets what they are now, by name: a job that was made for another one of that name is
 *     refused. Those that are not here are not looked at
 */
public record Placement(List<Node> nodes, Map<String, DatasetDefinition> datasets) {
    /** Of datasets that stay what they are. */
    public Placement(List<Node> nodes) {
        this(nodes, Map.of());
    }

    /**
     * A node.
     *
     * @param partitions how many partitions it holds of each dataset that it has, by name. Those of
     *     all nodes are numbered in the order of the nodes, from 0
     * @param mark that jobs carry to it; null: they carry none
     */
    public record Node(
            String name,
            Map<String, Integer> partitions,
            @Nullable JobMark mark) {
        public Node {
            partitions = Collections.unmodifiableMap(Map.copyOf(partitions));
            partitions.forEach((dataset, count) -> {
                if (count < 1) {
                    throw new InvalidRequestException(
                            "node '%s' can't hold %d partitions of dataset '%s'"
                                    .formatted(name, count, dataset));
                }
            });
        }

        /** A node to which jobs carry no mark. */
        public Node(String name, Map<String, Integer> partitions) {
            this(name, partitions, null);
        }

        int count(String dataset) {
            return partitions.getOrDefault(dataset, 0);
        }
    }

    /** What is in the controller's process. */
    private static final Set<String> OURS =
            Set.of(ClusterController.DOOR, ClusterIdentity.CONTROLLER);

    public Placement {
        nodes = List.copyOf(nodes);
        datasets = Collections.unmodifiableMap(Map.copyOf(datasets));
        Set<String> names = new HashSet<>();
        for (Node node : nodes) {
            if (OURS.contains(node.name())) {
                throw new InvalidRequestException(
                        "a node can't be named '%s': that is the controller's process"
                                .formatted(node.name()));
            }
            if (!names.add(node.name())) {
                throw new InvalidRequestException(
                        "two nodes are named '%s'".formatted(node.name()));
            }
        }
    }

    /**
     * Checks that a job reads datasets as they are now: rows come as nodes have them, and are read
     * by the fields that the job has.
     *
     * @throws InvalidRequestException naming a dataset that was made anew since
     */
    void check(JobGraph graph) {
        for (JobOperator operator : graph.operators()) {
            if (operator.settings().get("dataset") instanceof String name) {
                DatasetDefinition now = datasets.get(name);
                Source then = graph.dataset(name);
                boolean isSame = now == null
                        || (now.type().equals(then.type())
                                && now.primaryKey().equals(then.primaryKey()));
                if (!isSame) {
                    throw new InvalidRequestException(
                            "dataset '%s' was made anew with other fields or another key since the job was made: make the job anew"
                                    .formatted(name));
                }
            }
        }
    }

    /** The mark for a node of it. */
    @Nullable
    JobMark mark(String node) {
        return nodes.stream()
                .filter(each -> each.name().equals(node))
                .findFirst()
                .orElseThrow()
                .mark();
    }

    /** The nodes that hold partitions of a dataset, in order. */
    List<Node> holding(String dataset) {
        List<Node> holding = new ArrayList<>();
        for (Node node : nodes) {
            if (node.count(dataset) > 0) {
                holding.add(node);
            }
        }
        return holding;
    }

    /** The number of the first partition of a dataset that a node holds. */
    int firstPartition(String dataset, Node of) {
        int first = 0;
        for (Node node : nodes) {
            if (node.equals(of)) {
                break;
            }
            first += node.count(dataset);
        }
        return first;
    }
}
