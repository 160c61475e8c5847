package io.turbidite.feeds.cluster.change;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One change of a cluster. <em>Immutable.</em> Whether it fits the cluster is {@link
 * ClusterMap#with}'s to say.
 */
public sealed interface Change {
    /** In a few words, for messages. */
    String describe();

    /**
     * A node joins the cluster; it holds nothing yet.
     *
     * @param node 1 to 64 of {@code [A-Za-z0-9_-]}
     */
    record NodeAdded(String node) implements Change {
        public NodeAdded {
            Limits.checkName("node", node);
        }

        @Override
        public String describe() {
            return "add node '%s'".formatted(node);
        }
    }

    /**
     * A dataset with its indexes and the owner of each partition.
     *
     * @param placement the partitions of each node that has some, from 0
     */
    record DatasetCreated(DatasetDefinition definition, SortedMap<String, List<Integer>> placement)
            implements Change {
        public DatasetCreated {
            Limits.checkName("dataset", definition.name());
            SortedMap<String, List<Integer>> copy = new TreeMap<>();
            placement.forEach((node, partitions) -> copy.put(node, List.copyOf(partitions)));
            placement = Collections.unmodifiableSortedMap(copy);
        }

        /** Spreads the partitions of the definition over the nodes in turn. */
        public static DatasetCreated inTurn(DatasetDefinition definition, ClusterMap map) {
            List<String> nodes = List.copyOf(map.nodes());
            if (nodes.isEmpty()) {
                throw new InvalidRequestException("dataset '%s' needs a node: the cluster has none"
                        .formatted(definition.name()));
            }
            SortedMap<String, List<Integer>> placement = new TreeMap<>();
            for (int i = 0; i < definition.partitions(); i++) {
                placement
                        .computeIfAbsent(nodes.get(i % nodes.size()), node -> new ArrayList<>())
                        .add(i);
            }
            return new DatasetCreated(definition, placement);
        }

        @Override
        public String describe() {
            return "create dataset '%s'".formatted(definition.name());
        }
    }

    /** A dataset goes, with its indexes and partitions. */
    record DatasetDropped(String dataset) implements Change {
        public DatasetDropped {
            Limits.checkName("dataset", dataset);
        }

        @Override
        public String describe() {
            return "drop dataset '%s'".formatted(dataset);
        }
    }

    /** A secondary index of a dataset that is there. */
    record IndexCreated(String dataset, IndexDefinition index) implements Change {
        public IndexCreated {
            Limits.checkName("dataset", dataset);
            Limits.checkName("index", index.name());
        }

        @Override
        public String describe() {
            return "create index '%s' of dataset '%s'".formatted(index.name(), dataset);
        }
    }

    /** A secondary index goes. */
    record IndexDropped(String dataset, String index) implements Change {
        public IndexDropped {
            Limits.checkName("dataset", dataset);
            Limits.checkName("index", index);
        }

        @Override
        public String describe() {
            return "drop index '%s' of dataset '%s'".formatted(index, dataset);
        }
    }

    /**
     * A partition has another owner.
     *
     * @param from who owned it
     */
    record PartitionMoved(String dataset, int partition, String from, String to) implements Change {
        public PartitionMoved {
            Limits.checkName("dataset", dataset);
            Limits.checkName("node", from);
            Limits.checkName("node", to);
        }

        @Override
        public String describe() {
            return "move partition %d of dataset '%s' from '%s' to '%s'"
                    .formatted(partition, dataset, from, to);
        }
    }
}
