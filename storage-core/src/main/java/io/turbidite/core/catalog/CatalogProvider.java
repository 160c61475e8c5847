package io.turbidite.core.catalog;

import java.nio.file.Path;

/** What opens stores by their directories, found by {@link java.util.ServiceLoader}. */
public interface CatalogProvider {
    /**
     * Opens an existing store, as {@link OpenCatalog#open} says.
     *
     * @throws io.turbidite.core.InvalidRequestException if there is none, or another process has it
     */
    OpenCatalog open(Path directory, boolean readOnly);
}
