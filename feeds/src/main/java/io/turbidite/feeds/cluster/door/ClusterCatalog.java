package io.turbidite.feeds.cluster.door;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.ClusterMap.PlacedDataset;
import io.turbidite.feeds.cluster.run.ControllerProcess;

import java.time.Duration;
import java.util.List;

/**
 * A cluster as SQL meets it: its map, whose changes need all nodes. <em>Thread-safe.</em>
 */
final class ClusterCatalog implements Catalog {
    /** Building an index takes its time on each node. */
    private static final Duration CHANGE_LIMIT = Duration.ofMinutes(10);

    /** How long a change waits for nodes that lack the one before. */
    private static final Duration LEVEL_WAIT = Duration.ofSeconds(10);

    private final ControllerProcess controller;

    ClusterCatalog(ControllerProcess controller) {
        this.controller = controller;
    }

    private ClusterMap map() {
        return controller.changes().map();
    }

    PlacedDataset placed(String dataset) {
        PlacedDataset found = map().datasets().get(dataset);
        if (found == null) {
            throw new InvalidRequestException("there is no dataset '%s'".formatted(dataset));
        }
        return found;
    }

    @Override
    public List<ClusterSource> datasets() {
        return map().datasets().values().stream()
                .map(placed -> new ClusterSource(placed.definition()))
                .toList();
    }

    /** It shows nothing: what changes on a cluster reads nothing. */
    @Override
    public Moment openMoment() {
        return new Moment() {
            @Override
            public long timestamp() {
                return 0;
            }

            @Override
            public ReadView view(Source dataset) {
                throw ClusterSource.unread(dataset.name());
            }

            @Override
            public void close() {
                // it holds nothing
            }
        };
    }

    @Override
    public DatasetDefinition describe(String dataset) {
        return placed(dataset).definition();
    }

    /** One that asks for one partition, as one that asks for none, gets what fits the cluster. */
    @Override
    public void createDataset(DatasetDefinition wanted) {
        ClusterMap map = map();
        int partitions = wanted.partitions() == 1
                ? ClusterMap.partitionsFor(map.nodes().size())
                : wanted.partitions();
        change(Change.DatasetCreated.inTurn(
                new DatasetDefinition(
                        wanted.name(),
                        wanted.type(),
                        wanted.primaryKey(),
                        wanted.filterFields(),
                        partitions,
                        wanted.options(),
                        wanted.indexes()),
                map));
    }

    @Override
    public void dropDataset(String dataset) {
        change(new Change.DatasetDropped(dataset));
    }

    @Override
    public void createIndex(String dataset, IndexDefinition index) {
        change(new Change.IndexCreated(dataset, index));
    }

    @Override
    public void dropIndex(String dataset, String index) {
        change(new Change.IndexDropped(dataset, index));
    }

    /** Returns when all nodes have it. */
    private void change(Change change) {
        controller.changes().awaitAll(LEVEL_WAIT);
        controller.changes().change(change, CHANGE_LIMIT);
        controller.changes().awaitAll(LEVEL_WAIT);
    }

    @Override
    public ChangeBatch newBatch(Source dataset) {
        return new PlacedBatch(placed(dataset.name()), controller.writes());
    }
}
