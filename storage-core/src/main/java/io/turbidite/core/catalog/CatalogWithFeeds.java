package io.turbidite.core.catalog;

import io.turbidite.core.scan.Source;

import java.util.List;

/** A catalog beside what runs the feeds of its store. <em>Immutable.</em> */
record CatalogWithFeeds(Catalog store, FeedCatalog feeds) implements Catalog {
    @Override
    public List<? extends Source> datasets() {
        return store.datasets();
    }

    @Override
    public Moment openMoment() {
        return store.openMoment();
    }

    @Override
    public DatasetDefinition describe(String dataset) {
        return store.describe(dataset);
    }

    @Override
    public void createDataset(DatasetDefinition definition) {
        store.createDataset(definition);
    }

    @Override
    public void dropDataset(String dataset) {
        store.dropDataset(dataset);
    }

    @Override
    public void createIndex(String dataset, IndexDefinition index) {
        store.createIndex(dataset, index);
    }

    @Override
    public void dropIndex(String dataset, String index) {
        store.dropIndex(dataset, index);
    }

    @Override
    public ChangeBatch newBatch(Source dataset) {
        return store.newBatch(dataset);
    }
}
