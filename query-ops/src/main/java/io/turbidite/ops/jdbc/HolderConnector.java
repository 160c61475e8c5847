package io.turbidite.ops.jdbc;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Reaches the process that holds a store; found by {@link java.util.ServiceLoader}. The artifact
 * {@code turbidite-feeds} has one.
 */
public interface HolderConnector {
    /**
     * Connects.
     *
     * @param directory of the store
     * @return null if the process serves no others
     * @throws IOException if it does, and can't be reached
     */
    @Nullable
    HolderChannel connect(Path directory) throws IOException;
}
