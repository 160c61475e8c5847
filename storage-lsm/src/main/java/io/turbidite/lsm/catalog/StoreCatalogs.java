package io.turbidite.lsm.catalog;

import io.turbidite.core.catalog.CatalogProvider;
import io.turbidite.core.catalog.OpenCatalog;
import io.turbidite.core.index.IndexKind;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.nio.file.Path;
import java.util.ServiceLoader;

/**
 * Opens stores by their directories, with the default options and all kinds of index that are
 * installed as services. Without state.
 */
public final class StoreCatalogs implements CatalogProvider {
    /** For {@link java.util.ServiceLoader}. */
    public StoreCatalogs() {}

    @Override
    public OpenCatalog open(Path directory, boolean readOnly) {
        StoreOptions options = StoreOptions.defaults().withIndexKinds(installedKinds());
        Store store = readOnly
                ? Store.openForReading(directory, options)
                : Store.openExisting(directory, options);
        return StoreCatalog.of(store, readOnly);
    }

    /** Whoever opens a store by its directory alone can't hand in a kind. */
    private static IndexKind[] installedKinds() {
        return ServiceLoader.load(IndexKind.class, StoreCatalogs.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .toArray(IndexKind[]::new);
    }
}
