package io.turbidite.lsm.catalog;

import io.turbidite.core.catalog.CatalogProvider;
import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.nio.file.Path;

/** Opens stores by their directories, with the default options. Without state. */
public final class StoreCatalogs implements CatalogProvider {
    /** For {@link java.util.ServiceLoader}. */
    public StoreCatalogs() {}

    @Override
    public OpenCatalog open(Path directory, boolean readOnly) {
        StoreOptions options = StoreOptions.defaults();
        Store store = readOnly
                ? Store.openForReading(directory, options)
                : Store.openExisting(directory, options);
        return StoreCatalog.of(store, readOnly);
    }
}
