package io.turbidite.feeds.cluster.change;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Change.PartitionMoved;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which nodes there are, which datasets, and who owns each partition. <em>Immutable.</em>
 *
 * <p>Made of changes, one after the other, by {@link #with}; a change that does not fit is refused
 * there. Invariants: each partition has one owner, which is a node of the map; no secondary index
 * is unique, since the record with the same key may be on another node.
 *
 * @param nodes by name
 * @param datasets by name
 */
public record ClusterMap(SortedSet<String> nodes, SortedMap<String, PlacedDataset> datasets) {
    /** Of a cluster of which nothing is known. */
    public static final ClusterMap EMPTY = new ClusterMap(new TreeSet<>(), new TreeMap<>());

    /** As of a dataset on one machine. */
    public static final int PARTITIONS_MAX = 256;

    /** What the controller's process is called: as itself, and as the node that takes results. */
    private static final Set<String> CONTROLLERS = Set.of("controller", "door");

    private static final int PARTITIONS_MIN = 16;
    private static final int PARTITIONS_PER_NODE = 4;

    /**
     * A dataset and its places. <em>Immutable.</em>
     *
     * @param definition with the indexes that it has now
     * @param owners the node of each partition
     */
    public record PlacedDataset(DatasetDefinition definition, List<String> owners) {
        public PlacedDataset {
            owners = List.copyOf(owners);
        }
    }

    public ClusterMap {
        nodes = Collections.unmodifiableSortedSet(new TreeSet<>(nodes));
        datasets = Collections.unmodifiableSortedMap(new TreeMap<>(datasets));
    }

    /** How many partitions a dataset gets for so many nodes if nobody says: 16 to 256. */
    public static int partitionsFor(int nodeCount) {
        return Math.clamp(PARTITIONS_PER_NODE * (long) nodeCount, PARTITIONS_MIN, PARTITIONS_MAX);
    }

    /**
     * This map after a change.
     *
     * @throws InvalidRequestException saying why the change does not fit
     */
    public ClusterMap with(Change change) {
        return switch (change) {
            case NodeAdded added -> with(added);
            case DatasetCreated created -> with(created);
            case DatasetDropped dropped -> with(dropped);
            case IndexCreated created -> with(created);
            case IndexDropped dropped -> with(dropped);
            case PartitionMoved moved -> with(moved);
        };
    }

    private ClusterMap with(NodeAdded added) {
        if (CONTROLLERS.contains(added.node())) {
            throw refused(added, "that is the controller's process");
        }
        SortedSet<String> more = new TreeSet<>(nodes);
        if (!more.add(added.node())) {
            throw refused(added, "there is a node of this name");
        }
        return new ClusterMap(more, datasets);
    }

    private ClusterMap with(DatasetCreated created) {
        DatasetDefinition definition = created.definition();
        if (definition.name().startsWith("_")) {
            throw refused(created, "names that begin with '_' are the store's own");
        }
        if (datasets.containsKey(definition.name())) {
            throw refused(created, "there is a dataset of this name");
        }
        int count = definition.partitions();
        if (count < 1 || count > PARTITIONS_MAX) {
            throw refused(
                    created,
                    "it can have 1 to %d partitions, and not %d".formatted(PARTITIONS_MAX, count));
        }
        Set<String> names = new HashSet<>();
        for (IndexDefinition index : definition.indexes()) {
            checkNotUnique(created, index);
            if (!names.add(index.name())) {
                throw refused(created, "two indexes are named '%s'".formatted(index.name()));
            }
        }
        return with(new PlacedDataset(definition, owners(created, count)));
    }

    private List<String> owners(DatasetCreated created, int count) {
        @Nullable String[] owners = new String[count];
        created.placement().forEach((node, partitions) -> {
            if (!nodes.contains(node)) {
                throw refused(created, unknown(node));
            }
            for (int partition : partitions) {
                if (partition < 0 || partition >= count) {
                    throw refused(created, outOfRange(partition, count));
                }
                String other = owners[partition];
                if (other != null) {
                    throw refused(
                            created,
                            "partition %d has two owners, '%s' and '%s'"
                                    .formatted(partition, other, node));
                }
                owners[partition] = node;
            }
        });
        List<String> all = new ArrayList<>();
        for (String owner : owners) {
            if (owner == null) {
                throw refused(
                        created,
                        "partition %d has no owner"
                                .formatted(Arrays.asList(owners).indexOf(null)));
            }
            all.add(owner);
        }
        return all;
    }

    private ClusterMap with(DatasetDropped dropped) {
        require(dropped, dropped.dataset());
        SortedMap<String, PlacedDataset> less = new TreeMap<>(datasets);
        less.remove(dropped.dataset());
        return new ClusterMap(nodes, less);
    }

    private ClusterMap with(IndexCreated created) {
        PlacedDataset placed = require(created, created.dataset());
        checkNotUnique(created, created.index());
        List<IndexDefinition> indexes = new ArrayList<>(placed.definition().indexes());
        for (IndexDefinition index : indexes) {
            if (index.name().equals(created.index().name())) {
                throw refused(created, "there is an index of this name");
            }
        }
        indexes.add(created.index());
        return with(placed, indexes);
    }

    private ClusterMap with(IndexDropped dropped) {
        PlacedDataset placed = require(dropped, dropped.dataset());
        List<IndexDefinition> indexes = new ArrayList<>(placed.definition().indexes());
        if (!indexes.removeIf(index -> index.name().equals(dropped.index()))) {
            throw refused(dropped, "there is no index of this name");
        }
        return with(placed, indexes);
    }

    private ClusterMap with(PartitionMoved moved) {
        PlacedDataset placed = require(moved, moved.dataset());
        int count = placed.owners().size();
        if (moved.partition() < 0 || moved.partition() >= count) {
            throw refused(moved, outOfRange(moved.partition(), count));
        }
        if (!nodes.contains(moved.to())) {
            throw refused(moved, unknown(moved.to()));
        }
        String owner = placed.owners().get(moved.partition());
        if (!owner.equals(moved.from())) {
            throw refused(moved, "its owner is '%s'".formatted(owner));
        }
        if (moved.to().equals(owner)) {
            throw refused(moved, "it is there already");
        }
        List<String> owners = new ArrayList<>(placed.owners());
        owners.set(moved.partition(), moved.to());
        return with(new PlacedDataset(placed.definition(), owners));
    }

    private PlacedDataset require(Change change, String dataset) {
        PlacedDataset placed = datasets.get(dataset);
        if (placed == null) {
            throw refused(change, "there is no dataset of this name");
        }
        return placed;
    }

    private ClusterMap with(PlacedDataset placed, List<IndexDefinition> indexes) {
        DatasetDefinition old = placed.definition();
        return with(new PlacedDataset(
                new DatasetDefinition(
                        old.name(),
                        old.type(),
                        old.primaryKey(),
                        old.filterFields(),
                        old.partitions(),
                        old.options(),
                        indexes),
                placed.owners()));
    }

    private ClusterMap with(PlacedDataset placed) {
        SortedMap<String, PlacedDataset> more = new TreeMap<>(datasets);
        more.put(placed.definition().name(), placed);
        return new ClusterMap(nodes, more);
    }

    private static void checkNotUnique(Change change, IndexDefinition index) {
        if (index.unique()) {
            throw refused(
                    change,
                    ("index '%s' can't be unique on a cluster: another record with its key may be"
                                    + " on another node")
                            .formatted(index.name()));
        }
    }

    private static String unknown(String node) {
        return "there is no node '%s'".formatted(node);
    }

    private static String outOfRange(int partition, int count) {
        return "there is no partition %d: it has %d, from 0".formatted(partition, count);
    }

    private static InvalidRequestException refused(Change change, String why) {
        return new InvalidRequestException("can't %s: %s".formatted(change.describe(), why));
    }
}
