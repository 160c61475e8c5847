package io.turbidite.core.catalog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.task.Tasks;

import java.nio.file.Path;
import java.util.ServiceLoader;

/** A store that was opened by its directory, for whoever closes it. <em>Thread-safe.</em> */
public interface OpenCatalog extends Catalog, AutoCloseable {
    /**
     * Opens an existing store.
     *
     * @param readOnly no byte of the directory changes; calls that would are refused
     * @throws InvalidRequestException if there is none, if another process has it, or if the module
     *     that opens stores is not there
     */
    static OpenCatalog open(Path directory, boolean readOnly) {
        ServiceLoader<CatalogProvider> providers =
                ServiceLoader.load(CatalogProvider.class, OpenCatalog.class.getClassLoader());
        return providers
                .findFirst()
                .orElseThrow(
                        () -> new InvalidRequestException(
                                "a store is opened by io.turbidite:turbidite-storage-lsm, which is not on the class path"))
                .open(directory, readOnly);
    }

    /** Whether calls that would change the store are refused. */
    boolean isReadOnly();

    /** The disk on which queries may put what their memory does not hold. */
    Disk disk();

    /** The directory for that, on {@link #disk}. */
    String spillDirectory();

    /** What runs the parts of a query side by side. */
    Tasks tasks();

    /** Closes the store; a second call does nothing. */
    @Override
    void close();
}
