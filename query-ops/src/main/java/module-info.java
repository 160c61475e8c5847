@SuppressWarnings("module")
module io.turbidite.query.ops {
    requires transitive io.turbidite.storage.core;
    requires transitive org.jspecify;

    exports io.turbidite.ops;
    exports io.turbidite.ops.aggregate;
    exports io.turbidite.ops.expr;
    exports io.turbidite.ops.expression;
    exports io.turbidite.ops.frame;
    exports io.turbidite.ops.run;
    exports io.turbidite.ops.join to
            io.turbidite.feeds;
}
