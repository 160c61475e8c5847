package io.turbidite.feeds.cluster.door;

import io.turbidite.core.file.Disk;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.run.ControllerProcess;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Sql;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What commands reach in the process of a cluster's controller. <em>Thread-safe.</em> */
public final class ClusterDoor {
    private static final Duration ADD_LIMIT = Duration.ofSeconds(30);

    private static final String SPILL = "spill";

    private final ControllerProcess controller;
    private final Disk disk;

    /**
     * The door of a controller, which stays the caller's.
     *
     * @param disk what has no room in memory goes into its directory {@code spill}
     */
    public ClusterDoor(ControllerProcess controller, Disk disk) {
        this.controller = controller;
        this.disk = disk;
    }

    /**
     * A node and how it is.
     *
     * @param state {@code serves}, {@code behind} or {@code away}
     * @param partitions that it owns, of all datasets
     */
    public record NodeState(String name, String state, int partitions) {}

    /**
     * The cluster as it is.
     *
     * @param change the number of the last one
     * @param stopped why the controller makes no changes; null: it does
     * @param partitionsByDataset how many each dataset has
     */
    public record Status(
            long change,
            @Nullable String stopped,
            List<NodeState> nodes,
            Map<String, Integer> partitionsByDataset) {}

    /** How the cluster is now. */
    public Status status() {
        ClusterMap map = controller.changes().map();
        Set<String> here = controller.changes().stamped().stamps().keySet();
        List<String> behind = controller.changes().behind();
        List<String> joined = controller.jobs().nodes();
        List<NodeState> nodes = new ArrayList<>();
        for (String node : map.nodes()) {
            boolean isHere = here.contains(node) && joined.contains(node);
            int partitions = map.datasets().values().stream()
                    .mapToInt(placed ->
                            (int) placed.owners().stream().filter(node::equals).count())
                    .sum();
            nodes.add(new NodeState(
                    node,
                    !isHere ? "away" : behind.contains(node) ? "behind" : "serves",
                    partitions));
        }
        Map<String, Integer> datasets = new TreeMap<>();
        map.datasets()
                .forEach((name, placed) -> datasets.put(name, placed.owners().size()));
        return new Status(
                controller.changes().number(), controller.changes().stopped(), nodes, datasets);
    }

    /** Has a node in the map, before it starts; all others have to be there. */
    public void addNode(String node) {
        if (!controller.changes().map().nodes().contains(node)) {
            controller.changes().awaitAll(ADD_LIMIT);
            controller.changes().change(new Change.NodeAdded(node), ADD_LIMIT);
        }
    }

    /** What a statement may use here. */
    public RunOptions options() {
        return RunOptions.defaults().withSpill(disk, SPILL);
    }

    /** Statements over the datasets of now. */
    public Sql sql() {
        ClusterCatalog catalog = new ClusterCatalog(controller);
        return Sql.on(catalog.datasets())
                .hostedBy(
                        controller.jobs(),
                        Math.max(1, controller.changes().map().nodes().size()),
                        catalog);
    }

    /** A load of a file's records into a dataset. */
    public FileLoad load(String dataset) {
        ClusterCatalog catalog = new ClusterCatalog(controller);
        return new FileLoad(
                catalog.placed(dataset).definition(),
                new PlacedBatch(catalog.placed(dataset), controller.writes()));
    }
}
