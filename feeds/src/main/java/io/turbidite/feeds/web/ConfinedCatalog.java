package io.turbidite.feeds.web;

import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.scan.Source;
import io.turbidite.pm.PmKind;

import java.util.List;

/**
 * A store as clients of a server define in it: an index names no directory that they may not name.
 * <em>Thread-safe.</em>
 */
final class ConfinedCatalog implements Catalog {
    private final Catalog all;
    private final FilesRoot files;

    ConfinedCatalog(Catalog all, FilesRoot files) {
        this.all = all;
        this.files = files;
    }

    @Override
    public void createDataset(DatasetDefinition definition) {
        definition.indexes().forEach(this::check);
        all.createDataset(definition);
    }

    @Override
    public void createIndex(String dataset, IndexDefinition index) {
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
        return all.datasets();
    }

    @Override
    public Moment openMoment() {
        return all.openMoment();
    }

    @Override
    public DatasetDefinition describe(String dataset) {
        return all.describe(dataset);
    }

    @Override
    public void dropDataset(String dataset) {
        all.dropDataset(dataset);
    }

    @Override
    public void dropIndex(String dataset, String index) {
        all.dropIndex(dataset, index);
    }

    @Override
    public ChangeBatch newBatch(Source dataset) {
        return all.newBatch(dataset);
    }
}
