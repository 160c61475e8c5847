package io.turbidite.feeds.serve;

import io.turbidite.core.task.Tasks;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.feeds.command.Main;
import io.turbidite.feeds.command.StoreServer;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.lsm.Store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What an embedder's process does who has not all libraries of Netty. */
final class WithoutNetty {
    private WithoutNetty() {}

    /** {@code DIRECTORY FILE}; prints what comes of feeds, of a socket and of commands. */
    public static void main(String[] args) throws IOException {
        try {
            Class.forName("io.netty.channel.Channel");
        } catch (ClassNotFoundException expected) {
            System.out.println("no library");
        }
        Path directory = Path.of(args[0]);
        String file = yaml("f", "F", "kind: file, path: '%s'".formatted(args[1]));
        try (Store store = Store.open(directory)) {
            FeedDefinition definition = FeedDefinition.parse("f.yaml", directory, file);
            try (Feed feed = Feed.open(definition, store)) {
                System.out.println("file " + feed.run(FeedProgress.none()).records());
            }
            try (FeedManager feeds = FeedManager.open(store)) {
                feeds.start(yaml("m", "M", "kind: file, path: '%s'".formatted(args[1])), directory);
                Tasks tasks = store.environment().tasks();
                tasks.await(() -> feeds.status("m").state() == FeedState.ENDED);
                System.out.println("managed " + feeds.status("m").records());
                feeds.start(yaml("h", "H", "kind: http"), directory);
                System.out.println("sent starts");
                try (StoreServer server = StoreServer.start(store, feeds)) {
                    System.out.println("socket: " + server.problem().orElse("none"));
                }
            }
        }
        System.out.println("serve " + command("serve", directory.toString()));
        Path definition = Files.writeString(Path.of(args[1] + ".yaml"), file);
        System.out.println(
                "run " + command("run", definition.toString(), "--store", directory.toString()));
    }

    private static int command(String... arguments) {
        return Main.run(arguments, System.out, System.out);
    }

    private static String yaml(String feed, String dataset, String source) {
        return """
                feed: %s
                dataset: { name: %s, type: { id: int64 }, primaryKey: id }
                parser: { kind: json }
                source: { %s }
                """.formatted(feed, dataset, source);
    }
}
