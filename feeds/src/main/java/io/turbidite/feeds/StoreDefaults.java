package io.turbidite.feeds;

import io.turbidite.lsm.StoreOptions;
import io.turbidite.pm.PmKind;

/** How commands and feeds open stores, unless they say otherwise. Stateless. */
public final class StoreDefaults {
    private StoreDefaults() {}

    /** The store's own defaults, with all kinds of index that there are. */
    public static StoreOptions options() {
        return StoreOptions.defaults().withIndexKinds(new PmKind());
    }
}
