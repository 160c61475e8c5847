package io.turbidite.core.catalog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.Source;

import java.util.List;

/**
 * A store as SQL meets it. Not found, there already, or not possible is an {@link
 * io.turbidite.core.InvalidRequestException} that says so; the store is as it was then.
 *
 * <p>Datasets whose names begin with {@code _} are the store's own: they can be read, and are
 * neither changed nor defined. <em>Thread-safe.</em>
 */
public interface Catalog {
    /** All datasets, by name. */
    List<? extends Source> datasets();

    /** Registers a snapshot of this moment. Close it soon: it keeps old versions alive. */
    Moment openMoment();

    /** How a dataset is defined now. */
    DatasetDefinition describe(String dataset);

    /** Creates a dataset; it is durable when this returns. */
    void createDataset(DatasetDefinition definition);

    /** Drops a dataset and all its records. */
    void dropDataset(String dataset);

    /** Creates a secondary index. Returns when searches can use it; writers may go on. */
    void createIndex(String dataset, IndexDefinition index);

    /** Drops a secondary index. */
    void dropIndex(String dataset, String index);

    /**
     * An empty batch of changes; reusable.
     *
     * @param dataset one of {@link #datasets}
     */
    ChangeBatch newBatch(Source dataset);

    /**
     * The feeds of the store.
     *
     * @throws InvalidRequestException if nobody runs them in this process
     */
    default FeedCatalog feeds() {
        throw new InvalidRequestException(
                "no feed of the store is run here: ./turbidite serve runs them, or an application by FeedManager of io.turbidite:turbidite-feeds");
    }

    /** The same, with feeds. */
    default Catalog with(FeedCatalog feeds) {
        return new CatalogWithFeeds(this, feeds);
    }
}
