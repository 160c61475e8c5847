@SuppressWarnings("module")
module io.turbidite.storage.lsm {
    requires transitive io.turbidite.storage.core;
    requires roaringbitmap;
    // optional: the codecs of datasets that ask for them
    requires static com.github.luben.zstd_jni;
    requires static org.lz4.java;
    requires transitive org.jspecify;

    exports io.turbidite.lsm;
    exports io.turbidite.lsm.backup;
    exports io.turbidite.lsm.catalog;
    exports io.turbidite.lsm.check;
    exports io.turbidite.lsm.component;
    exports io.turbidite.lsm.merge;
    exports io.turbidite.lsm.schedule;
    exports io.turbidite.lsm.schema;
    exports io.turbidite.lsm.ship;
    exports io.turbidite.lsm.strategy.advice;
    exports io.turbidite.lsm.partition to
            io.turbidite.feeds;
    exports io.turbidite.lsm.version to
            io.turbidite.feeds;

    uses io.turbidite.core.index.IndexKind;

    provides io.turbidite.core.catalog.CatalogProvider with
            io.turbidite.lsm.catalog.StoreCatalogs;
}
