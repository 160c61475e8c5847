@SuppressWarnings("module") // those it opens inner rooms to are built after it
module io.turbidite.storage.core {
    requires org.slf4j;
    requires com.dynatrace.hash4j;
    requires com.fasterxml.jackson.core;
    requires com.lmax.disruptor;
    requires java.management;
    requires jdk.nio.mapmode;
    // optional: who binds meters to it has it
    requires static micrometer.core;
    // optional: who has indexes with analyzers has them
    requires static org.apache.lucene.analysis.common;
    requires static org.apache.lucene.core;
    requires transitive org.jspecify;

    // what opens stores by their directories
    uses io.turbidite.core.catalog.CatalogProvider;

    exports io.turbidite.core;
    exports io.turbidite.core.bytes;
    exports io.turbidite.core.catalog;
    exports io.turbidite.core.expr;
    exports io.turbidite.core.file;
    exports io.turbidite.core.geo;
    exports io.turbidite.core.index;
    exports io.turbidite.core.key;
    exports io.turbidite.core.log;
    exports io.turbidite.core.memory;
    exports io.turbidite.core.meter;
    exports io.turbidite.core.record;
    exports io.turbidite.core.scan;
    exports io.turbidite.core.task;
    exports io.turbidite.core.text;
    exports io.turbidite.core.time;
    exports io.turbidite.core.type;
    exports io.turbidite.core.bloom to
            io.turbidite.query.ops,
            io.turbidite.storage.lsm;
    exports io.turbidite.core.cache to
            io.turbidite.storage.lsm;
    exports io.turbidite.core.epoch to
            io.turbidite.storage.hashlog,
            io.turbidite.storage.pm;
    exports io.turbidite.core.sort to
            io.turbidite.query.ops,
            io.turbidite.storage.lsm;
    exports io.turbidite.core.format to
            io.turbidite.feeds,
            io.turbidite.storage.hashlog,
            io.turbidite.storage.lsm,
            io.turbidite.storage.pm;
}
