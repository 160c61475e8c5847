package io.turbidite.core.catalog;

import io.turbidite.core.scan.Source;

import java.util.List;

/** A store as SQL meets it. <em>Thread-safe.</em> */
public interface Catalog {
    /** All datasets, by name. */
    List<? extends Source> datasets();

    /** Registers a snapshot of this moment. Close it soon: it keeps old versions alive. */
    Moment openMoment();
}
