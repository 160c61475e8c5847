package io.turbidite.feeds.source.kafka;

import io.turbidite.core.log.Durability;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A process that feeds a store from a topic until it is killed, or who started it is gone. */
final class KilledFeed {
    static final StoreOptions OPTIONS = StoreOptions.defaults().withDurability(Durability.PROCESS);

    private KilledFeed() {}

    /**
     * {@code STORE DEFINITION TOPIC-AND-ID PARTITIONS}; prints {@code open}, then how many records
     * the store has taken each time that there are more.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        Path directory = Path.of(args[0]);
        try (Store store = Store.open(directory, OPTIONS);
                FeedManager feeds = FeedManager.open(store)) {
            if (feeds.startKept().isEmpty()) {
                feeds.start(Files.readString(Path.of(args[1])), directory);
            }
            System.out.println("open");
            long told = -1;
            while (System.in.available() == 0) {
                long now = KafkaKillTest.records(store, args[2], Integer.parseInt(args[3]));
                if (now != told) {
                    System.out.println(now);
                    told = now;
                }
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
    }
}
