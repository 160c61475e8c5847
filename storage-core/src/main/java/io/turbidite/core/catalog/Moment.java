package io.turbidite.core.catalog;

import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;

/** All datasets of a store at one moment. <em>Thread-safe.</em> */
public interface Moment extends AutoCloseable {
    /** Its views show everything up to this timestamp and nothing after it. */
    long timestamp();

    /**
     * A dataset at this moment; close it before the moment.
     *
     * @param dataset one of {@link Catalog#datasets}
     * @throws io.turbidite.core.InvalidRequestException if it was dropped
     */
    ReadView view(Source dataset);

    @Override
    void close();
}
