package io.turbidite.lsm.engine;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.schema.DatasetSchema;

/**
 * What a scan of a dataset needs of the buffer cache: a page of each component at once.
 *
 * @param components as many as the merge policy keeps, whatever the data; 0 if that depends on them
 * @param pageBytes of the index with the largest pages
 */
public record CacheNeed(int components, int pageBytes) {
    public static CacheNeed of(DatasetSchema schema) {
        int pageBytes = schema.treeIds().stream()
                .mapToInt(tree -> schema.pages(tree).pageBytes())
                .max()
                .orElseThrow();
        return new CacheNeed(schema.mergePolicy().policy().keptCount(), pageBytes);
    }

    /** Bytes of those pages. */
    public long bytes() {
        return (long) components * pageBytes;
    }

    /**
     * Refuses a definition whose scans could not run.
     *
     * @throws InvalidRequestException with what is needed and what there is
     */
    public static void check(DatasetSchema schema, long cacheBytes) {
        CacheNeed need = of(schema);
        if (need.bytes() > cacheBytes) {
            throw new InvalidRequestException(
                    ("dataset %s: merge policy %s keeps up to %d components, and a scan reads a page of %d bytes"
                                    + " of each at once: that is %d bytes, the buffer cache has %d; raise"
                                    + " cacheBytes, or make pages smaller")
                            .formatted(
                                    schema.name(),
                                    schema.mergePolicy(),
                                    need.components,
                                    need.pageBytes,
                                    need.bytes(),
                                    cacheBytes));
        }
    }
}
