package io.turbidite.bench.recency;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.PeerOptions;
import io.turbidite.bench.peer.RocksEngine;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.core.bytes.Slice;

import java.nio.file.Path;

/**
 * The same tweets in RocksDB, by random keys: it has no filters, so whoever wants those of a time
 * reads all of them. <em>Confined to one thread.</em>
 */
final class RocksTweets implements AutoCloseable {
    /** An odd number: each key once. */
    private static final long SCATTER = 0x9E37_79B9_7F4A_7C15L;

    private final Path directory;
    private final RocksEngine rocks;

    RocksTweets(
            Path directory, RecentTweets all, long memoryBytes, long cacheBytes, boolean direct) {
        this.directory = Scratch.empty(directory);
        this.rocks =
                new RocksEngine(new PeerOptions(directory, memoryBytes, cacheBytes, 1, direct));
        Tweet tweet = new Tweet();
        Engine.Writer writer = rocks.newWriter();
        for (int i = 0; i < all.count(); i++) {
            tweet.id = i * SCATTER;
            tweet.attributes[0] = all.user(i);
            tweet.created = i;
            tweet.message.set(Slice.of(all.text(i).getBytes(US_ASCII)));
            writer.upsert(tweet);
        }
        rocks.settle();
    }

    /** Those of a time and later ones. */
    Engine.Answer since(long from) {
        return rocks.since(from);
    }

    @Override
    public void close() {
        rocks.close();
        Scratch.delete(directory);
    }
}
