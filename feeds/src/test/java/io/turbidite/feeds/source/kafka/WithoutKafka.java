package io.turbidite.feeds.source.kafka;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Store;

import java.nio.file.Path;

/** What an embedder's process does who has no library of Kafka. */
final class WithoutKafka {
    private static final String DATASET = """
            feed: %s
            dataset: { name: %s, type: { id: string, n: int64 }, primaryKey: id }
            parser: { kind: json }
            source: { %s }
            """;

    private WithoutKafka() {}

    /** {@code DIRECTORY FILE}; prints what comes of feeds of each kind. */
    public static void main(String[] args) {
        Path directory = Path.of(args[0]);
        try {
            Class.forName("org.apache.kafka.clients.consumer.Consumer");
            throw new IllegalStateException("the library is there");
        } catch (ClassNotFoundException expected) {
            System.out.println("no library");
        }
        String file = "kind: file, path: '%s'".formatted(args[1]);
        String kafka = "kind: kafka, bootstrap: '127.0.0.1:9092', topics: a, group: g";
        try (Store store = Store.open(directory)) {
            FeedDefinition ofFile =
                    FeedDefinition.parse("f.yaml", directory, DATASET.formatted("f", "F", file));
            try (Feed feed = Feed.open(ofFile, store)) {
                System.out.println("file " + feed.run(FeedProgress.none()).records());
            }
            FeedDefinition ofTopic =
                    FeedDefinition.parse("k.yaml", directory, DATASET.formatted("k", "K", kafka));
            try {
                Feed.check(ofTopic);
            } catch (InvalidRequestException e) {
                System.out.println("check: " + e.getMessage());
            }
            try (FeedManager feeds = FeedManager.open(store)) {
                for (String kind :
                        new String[] {"tcp", "http", "tail, path: '%s'".formatted(args[1])}) {
                    String name = kind.replaceAll(",.*", "");
                    feeds.start(DATASET.formatted(name, name, "kind: " + kind), directory);
                    System.out.println(name + " starts");
                }
                try {
                    feeds.start(DATASET.formatted("k", "K", kafka), directory);
                } catch (InvalidRequestException e) {
                    System.out.println("start: " + e.getMessage());
                }
            }
        }
    }
}
