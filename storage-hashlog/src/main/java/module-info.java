@SuppressWarnings("module")
module io.turbidite.storage.hashlog {
    requires transitive io.turbidite.storage.core;
    // optional: a parser without vectors stands in
    requires static jdk.incubator.vector;
    requires transitive org.jspecify;

    exports io.turbidite.hashlog;
    exports io.turbidite.hashlog.chain;
    exports io.turbidite.hashlog.log;
    exports io.turbidite.hashlog.parse;
    exports io.turbidite.hashlog.psf;
    exports io.turbidite.hashlog.registry;
    exports io.turbidite.hashlog.scan;
}
