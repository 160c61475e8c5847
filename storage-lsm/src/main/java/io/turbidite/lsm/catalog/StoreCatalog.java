package io.turbidite.lsm.catalog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.core.file.Disk;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.version.StoreFiles;

import java.util.Comparator;
import java.util.List;

/** An open store as SQL and JDBC see it. <em>Thread-safe.</em> */
public final class StoreCatalog implements OpenCatalog {
    private final Store store;
    private final boolean isReadOnly;

    private StoreCatalog(Store store, boolean isReadOnly) {
        this.store = store;
        this.isReadOnly = isReadOnly;
    }

    /**
     * A store that the caller has open.
     *
     * @param isReadOnly whether it was opened for reading
     */
    public static StoreCatalog of(Store store, boolean isReadOnly) {
        return new StoreCatalog(store, isReadOnly);
    }

    @Override
    public boolean isReadOnly() {
        return isReadOnly;
    }

    @Override
    public List<Dataset> datasets() {
        return store.datasets().stream()
                .sorted(Comparator.comparing(Dataset::name))
                .toList();
    }

    @Override
    public Moment openMoment() {
        return new StoreMoment(store.openSnapshot());
    }

    private record StoreMoment(Snapshot snapshot) implements Moment {
        @Override
        public long timestamp() {
            return snapshot.timestamp();
        }

        @Override
        public ReadView view(Source source) {
            if (!(source instanceof Dataset dataset)) {
                throw new InvalidRequestException(
                        "%s is no dataset of this store".formatted(source.name()));
            }
            return snapshot.view(dataset);
        }

        @Override
        public void close() {
            snapshot.close();
        }
    }

    @Override
    public Disk disk() {
        return store.environment().disk();
    }

    @Override
    public String spillDirectory() {
        return StoreFiles.SPILL;
    }

    @Override
    public Tasks tasks() {
        return store.environment().tasks();
    }

    @Override
    public void close() {
        store.close();
    }
}
