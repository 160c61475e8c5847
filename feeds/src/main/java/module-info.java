module io.turbidite.feeds {
    requires transitive io.turbidite.query.ops;
    requires transitive io.turbidite.storage.hashlog;
    requires transitive io.turbidite.storage.lsm;
    requires io.turbidite.storage.pm;
    requires com.fasterxml.jackson.core;
    requires com.fasterxml.jackson.databind;
    requires com.fasterxml.jackson.dataformat.yaml;
    requires com.lmax.disruptor;
    requires de.siegmar.fastcsv;
    requires info.picocli;
    requires me.tongfei.progressbar;
    // they have no names of their own: those of their files
    requires micrometer.core;
    requires micrometer.registry.prometheus;
    requires org.jline.reader;
    requires org.jline.terminal;
    requires org.slf4j;
    requires transitive org.jspecify;
    // optional: who draws pictures, serves, or takes bodies packed so, has them
    requires static com.github.luben.zstd_jni;
    requires static io.netty.buffer;
    requires static io.netty.codec;
    requires static io.netty.codec.compression;
    requires static io.netty.codec.http;
    requires static io.netty.common;
    requires static io.netty.handler;
    requires static io.netty.transport;
    requires static java.desktop;
    requires static java.xml;
    // it has no name of its own: that of its file
    requires static kafka.clients;
    requires static org.apache.avro;
    requires static org.apache.commons.compress;
    requires static org.apache.xmlgraphics.batik.awt.util;
    requires static org.apache.xmlgraphics.batik.svggen;
    requires static org.tukaani.xz;
    // it has no name of its own: that of its file
    requires static xchart;
    // it has no name of its own: that of its file
    requires static snappy.java;

    exports io.turbidite.feeds;
    exports io.turbidite.feeds.command;
    exports io.turbidite.feeds.log;
    exports io.turbidite.feeds.manage;
    exports io.turbidite.feeds.parse;
    exports io.turbidite.feeds.source;
    exports io.turbidite.feeds.source.parcel;

    uses io.turbidite.feeds.parse.RecordFunction;
    uses io.turbidite.feeds.source.SourceKind;

    provides io.turbidite.feeds.source.SourceKind with
            io.turbidite.feeds.source.file.FileKind,
            io.turbidite.feeds.source.kafka.KafkaKind,
            io.turbidite.feeds.source.parcel.HttpKind,
            io.turbidite.feeds.source.parcel.TcpKind,
            io.turbidite.feeds.source.stdin.StdinKind,
            io.turbidite.feeds.source.tail.TailKind;
    provides io.turbidite.ops.jdbc.HolderConnector with
            io.turbidite.feeds.serve.SocketConnector;

    // options and parameters are fields that the library sets
    opens io.turbidite.feeds.cluster.command to
            info.picocli;
    opens io.turbidite.feeds.command to
            info.picocli;
    opens io.turbidite.feeds.command.common to
            info.picocli;
    opens io.turbidite.feeds.command.copy to
            info.picocli;
    opens io.turbidite.feeds.command.feed to
            info.picocli;
    opens io.turbidite.feeds.command.log to
            info.picocli;
    opens io.turbidite.feeds.command.operate to
            info.picocli;
    opens io.turbidite.feeds.command.query to
            info.picocli;
    opens io.turbidite.feeds.command.server to
            info.picocli;
    opens io.turbidite.feeds.command.store to
            info.picocli;
    opens io.turbidite.feeds.command.watch to
            info.picocli;
}
