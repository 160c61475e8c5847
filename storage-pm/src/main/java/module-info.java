module io.turbidite.storage.pm {
    requires transitive io.turbidite.storage.core;
    requires transitive org.jspecify;

    exports io.turbidite.pm;

    provides io.turbidite.core.index.IndexKind with
            io.turbidite.pm.PmKind;
}
