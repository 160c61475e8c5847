@SuppressWarnings("module")
module io.turbidite.query.ops {
    requires transitive io.turbidite.storage.core;
    requires transitive org.jspecify;
    requires com.fasterxml.jackson.core;
    // optional: who connects by JDBC has it
    requires static transitive java.sql;
    // optional: processes of a cluster have it
    requires static java.naming;
    // optional: who asks in SQL has them; those of Calcite have no names but those of their files
    requires static avatica.core;
    requires static calcite.babel;
    requires static calcite.core;
    requires static calcite.linq4j;
    requires static com.google.common;
    requires static org.checkerframework.checker.qual;
    requires static org.apiguardian.api;

    exports io.turbidite.ops;
    exports io.turbidite.ops.aggregate;
    exports io.turbidite.ops.expr;
    exports io.turbidite.ops.expression;
    exports io.turbidite.ops.frame;
    exports io.turbidite.ops.jdbc;
    exports io.turbidite.ops.job;
    exports io.turbidite.ops.run;
    exports io.turbidite.ops.sql;
    exports io.turbidite.ops.window;
    exports io.turbidite.ops.cluster to
            io.turbidite.feeds;
    exports io.turbidite.ops.join to
            io.turbidite.feeds;

    uses io.turbidite.ops.jdbc.HolderConnector;

    provides java.sql.Driver with
            io.turbidite.ops.jdbc.TurbiditeDriver;
}
