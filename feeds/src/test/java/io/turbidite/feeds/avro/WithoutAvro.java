package io.turbidite.feeds.avro;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.lsm.Store;

import java.nio.file.Path;

/** What an embedder's process does who has no library of Avro. */
final class WithoutAvro {
    private WithoutAvro() {}

    /** {@code DIRECTORY FILE}; prints what comes of feeds of each format. */
    public static void main(String[] args) {
        Path directory = Path.of(args[0]);
        for (String name : new String[] {
            "org.apache.avro.Schema",
            "org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream",
            "org.xerial.snappy.Snappy"
        }) {
            try {
                Class.forName(name);
                throw new IllegalStateException("the library is there");
            } catch (ClassNotFoundException expected) {
                System.out.println("no " + name);
            }
        }
        String file = "kind: file, path: '%s'".formatted(args[1]);
        String kafka = "kind: kafka, bootstrap: '127.0.0.1:9092', topics: a, group: g";
        try (Store store = Store.open(directory)) {
            check("file", "avro", file);
            check("kafka", "avro, schemas: { 1: a.avsc }", kafka);
            try (Feed feed = Feed.open(definition("json", file), store)) {
                System.out.println("json " + feed.run(FeedProgress.none()).records());
            }
        }
    }

    private static FeedDefinition definition(String parser, String source) {
        return FeedDefinition.parse("f.yaml", null, """
                feed: f
                dataset: { name: D, type: { id: int64, name: string }, primaryKey: id }
                parser: { kind: %s }
                source: { %s }
                """.formatted(parser, source));
    }

    private static void check(String what, String parser, String source) {
        try {
            Feed.check(definition(parser, source));
        } catch (InvalidRequestException e) {
            System.out.println(what + ": " + e.getMessage());
        }
    }
}
