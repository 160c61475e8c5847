package io.turbidite.feeds.web;

import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.FeedCatalog;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.scan.Source;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A store as clients of a server define in it: an index names no directory that they may not name,
 * and datasets that they may not use are not there. <em>Thread-safe.</em>
 */
final class ConfinedCatalog implements Catalog {
    private final Catalog all;
    private final FilesRoot files;
    private final OwnDatasets own;
    private final @Nullable FeedCatalog feeds;

    /** @param feeds those of the store; null if nobody runs them */
    ConfinedCatalog(Catalog all, FilesRoot files, OwnDatasets own, @Nullable FeedCatalog feeds) {
        this.all = all;
        this.files = files;
        this.own = own;
        this.feeds = feeds;
    }

    @Override
    public FeedCatalog feeds() {
        return feeds == null ? all.feeds() : feeds;
    }

    @Override
    public void createDataset(DatasetDefinition definition) {
        own.require(definition.name());
        definition.indexes().forEach(this::check);
        all.createDataset(definition);
    }

    @Override
    public void createIndex(String dataset, IndexDefinition index) {
        own.require(dataset);
        check(index);
        all.createIndex(dataset, index);
    }

    private void check(IndexDefinition index) {
        String path = index.options().get(PmKind.PATH);
        if (path != null) {
            var _ = files.resolve("path", path);
        }
    }

    @Override
    public List<? extends Source> datasets() {
        return all.datasets().stream().filter(one -> own.mayUse(one.name())).toList();
    }

    @Override
    public Moment openMoment() {
        return all.openMoment();
    }

    @Override
    public DatasetDefinition describe(String dataset) {
        own.require(dataset);
        return all.describe(dataset);
    }

    @Override
    public void dropDataset(String dataset) {
        own.require(dataset);
        all.dropDataset(dataset);
    }

    @Override
    public void dropIndex(String dataset, String index) {
        own.require(dataset);
        all.dropIndex(dataset, index);
    }

    @Override
    public ChangeBatch newBatch(Source dataset) {
        return all.newBatch(dataset);
    }
}
