package io.turbidite.feeds.cluster.agree;

import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Change.PartitionMoved;
import io.turbidite.feeds.cluster.change.Changes;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.ClusterMap.PlacedDataset;

import java.util.List;
import java.util.SplittableRandom;

/** Changes by chance, of which most fit a map. */
final class SimChanges {
    private SimChanges() {}

    /**
     * A change.
     *
     * @param name that nothing has had
     */
    static Change any(SplittableRandom random, ClusterMap map, String name) {
        if (map.datasets().isEmpty() || random.nextInt(3) == 0) {
            return map.nodes().isEmpty()
                    ? new NodeAdded("n1")
                    : DatasetCreated.inTurn(Changes.dataset(name, 4), map);
        }
        List<PlacedDataset> all = List.copyOf(map.datasets().values());
        PlacedDataset placed = all.get(random.nextInt(all.size()));
        String dataset = placed.definition().name();
        List<String> names = List.copyOf(map.nodes());
        return switch (random.nextInt(4)) {
            case 0 -> new IndexCreated(dataset, Changes.index("i" + name));
            case 1 -> new DatasetDropped(dataset);
            case 2 ->
                placed.definition().indexes().isEmpty()
                        ? new DatasetDropped(dataset)
                        : new IndexDropped(
                                dataset,
                                placed.definition().indexes().getFirst().name());
            default ->
                new PartitionMoved(
                        dataset,
                        random.nextInt(4),
                        placed.owners().get(random.nextInt(4)),
                        names.get(random.nextInt(names.size())));
        };
    }
}
